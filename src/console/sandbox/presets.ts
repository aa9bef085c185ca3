import { anyObject, type Guarded, list, object, text, withDefault } from '../data/guard.ts';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import type { Draft } from '../screens/agent-editor/panel.ts';

/**
 * What a draft is tried with: values for the variables of its prompt, and who the user is that it talks with. Both are
 * of this browser and of tries only; an agent has its prompt as it is stored.
 */
const texts = (value: unknown, at: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(anyObject(value, at)).map(([name, member]) => [name, text(member, `${at}.${name}`)]),
  );

const Preset = object({
  name: text,
  persona: withDefault(text, ''),
  variables: withDefault(texts, {}),
});
export type Preset = Guarded<typeof Preset>;

const Presets = list(Preset);

export const EMPTY_PRESET: Preset = { name: '', persona: '', variables: {} };

export const storedPresets = (): Preset[] => {
  try {
    return Presets(readJson(KEYS.presets) ?? [], '');
  } catch {
    return [];
  }
};

export const storePresets = (presets: readonly Preset[]): void =>
  writeKey(KEYS.presets, presets.length === 0 ? null : JSON.stringify(presets));

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}|\{([\w.-]+)\}/g;

const promptOf = ({ system_prompt }: Draft): string =>
  typeof system_prompt === 'string' ? system_prompt : '';

/** Names, each once, as they come. */
export const variablesOf = (draft: Draft): string[] => [
  ...new Set(Array.from(promptOf(draft).matchAll(VARIABLE), ([, double, single]) => double ?? single ?? '')),
];

/** A variable without a value stays as it is written. */
export const applied = (draft: Draft, preset: Preset | undefined): Draft => {
  if (!preset) return draft;
  const filled = promptOf(draft).replace(VARIABLE, (whole, double?: string, single?: string) => {
    const name = double ?? single ?? '';
    return (Object.hasOwn(preset.variables, name) && preset.variables[name]) || whole;
  });
  const persona = preset.persona.trim();
  const system_prompt = persona === '' ? filled : `${filled}\n\nThe user you talk with: ${persona}`.trim();
  return { ...draft, system_prompt };
};
