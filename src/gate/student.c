/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t, also for the fractional degrees of freedom of Welch's test, and Fisher's F. */
#include "trainprof/gate/gate.h"

#include <math.h>

/* Computes the continued fraction of the incomplete beta function by Lentz's method: Press et al.,
 * Numerical Recipes, section 6.4. Converges fast for x < (a + 1) / (a + b + 2). */
static double beta_series(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1;
	double d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	for (int m = 1; m <= 300; m++) {
		const double terms[2] = {
			m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
			-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
		};
		double factor = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + terms[i] / c;
			c = fabs(c) < tiny ? tiny : c;
			factor = c * d;
			result *= factor;
		}
		if (fabs(factor - 1) < 1e-14)
			break;
	}
	return result;
}

/* Regularised incomplete beta function I_x(a, b). */
static double beta_ratio(double x, double a, double b)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_series(x, a, b) / a;
	return 1 - front * beta_series(1 - x, b, a) / b;
}

/* Returns the probability of a value above t > 0. */
static double upper_tail(double t, double df)
{
	return beta_ratio(df / (df + t * t), df / 2, 0.5) / 2;
}

double tp_student_quantile(double p, double df)
{
	if (p < 0.5)
		return -tp_student_quantile(1 - p, df);
	double low = 0;
	double high = 1;
	while (upper_tail(high, df) > 1 - p && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;
		if (upper_tail(middle, df) > 1 - p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double tp_fisher_tail(double f, double df_above, double df_below)
{
	return beta_ratio(df_below / (df_below + df_above * f), df_below / 2, df_above / 2);
}
