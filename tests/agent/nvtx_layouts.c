/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the layouts and numbers of src/agent/nvtx/nvtx_abi.h with NVTX's headers. It compiles
 * only if they are equal; compiling is the whole test. */
#include "agent/nvtx/nvtx_abi.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#define SAME_AT(ours, theirs, member, member_there)                                                \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, member_there), #member)
#define SAME(ours, theirs)      _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)

SAME_SIZE(nvtx_attributes, nvtxEventAttributes_t);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, size, size);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, payload_type, payloadType);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, n_payloads, reserved0);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, payload, payload);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, message_type, messageType);
SAME_AT(nvtx_attributes, nvtxEventAttributes_t, message, message);
SAME_SIZE(nvtx_payload, nvtxPayloadData_t);
SAME_AT(nvtx_payload, nvtxPayloadData_t, schema, schemaId);
SAME_AT(nvtx_payload, nvtxPayloadData_t, size, size);
SAME_AT(nvtx_payload, nvtxPayloadData_t, data, payload);
SAME_SIZE(nvtx_callbacks, NvtxExportTableCallbacks);
SAME_AT(nvtx_callbacks, NvtxExportTableCallbacks, get_functions, GetModuleFunctionTable);
SAME_SIZE(nvtx_segment, nvtxExtModuleSegment_t);
SAME_AT(nvtx_segment, nvtxExtModuleSegment_t, n_slots, slotCount);
SAME_AT(nvtx_segment, nvtxExtModuleSegment_t, slots, functionSlots);
SAME_SIZE(nvtx_extension, nvtxExtModuleInfo_t);
SAME_AT(nvtx_extension, nvtxExtModuleInfo_t, module, moduleId);
SAME_AT(nvtx_extension, nvtxExtModuleInfo_t, n_segments, segmentsCount);
SAME_AT(nvtx_extension, nvtxExtModuleInfo_t, segments, segments);

SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_DOMAIN_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_DOMAIN_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
SAME(NVTX_NO_LEVELS, NVTX_NO_PUSH_POP_TRACKING);
SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_SLOT_PUSH_PAYLOAD, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_SLOT_POP_PAYLOAD, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_SLOT_START_PAYLOAD, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_SLOT_END_PAYLOAD, NVTX3EXT_CBID_nvtxRangeEndPayload);
