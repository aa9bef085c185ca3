import { createAtom } from '@xstate/store';
import { flag, list, object, optional, text, withDefault } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { KEYS, onKey, readKey, writeKey } from '../data/storage.ts';

/** Whether the assistant panel is open in this browser, and the assistant's section of the capabilities. */

export const panelOpen = createAtom(readKey(KEYS.assistantOpen) === '1');

export const setPanelOpen = (isOpen: boolean): void => {
  writeKey(KEYS.assistantOpen, isOpen ? '1' : '0');
  panelOpen.set(isOpen);
};

onKey(KEYS.assistantOpen, (value) => panelOpen.set(value === '1'));

const BoundTool = object({
  id: text,
  label: withDefault(text, ''),
  description: withDefault(text, ''),
  requires_confirmation: withDefault(flag, false),
});
export type BoundTool = ReturnType<typeof BoundTool>;

const AdminAssistant = object({
  enabled: flag,
  disabled_reason: optional(text),
  model_id: optional(text),
  bound_tools: withDefault(list(BoundTool), []),
});
export type AdminAssistant = ReturnType<typeof AdminAssistant>;

export const adminAssistant: Resource<AdminAssistant> = {
  ...capabilities,
  guard: (body, at) => object({ admin_assistant: AdminAssistant })(body, at).admin_assistant,
};
