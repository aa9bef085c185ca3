import { anyObject, list, object, text, withDefault } from '../data/guard.ts';
import type { Draft } from '../data/spec.ts';
import { KEYS, readJson, writeKey } from '../data/storage.ts';

/**
 * Presets for trying a draft: values for the variables of its prompt, and a description of the user. They are stored in
 * this browser and apply only to previews; stored agents keep their prompt unchanged.
 */
const texts = (value: unknown, at: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(anyObject(value, at)).map(([name, member]) => [name, text(member, `${at}.${name}`)]),
  );

export const Preset = object({
  name: text,
  persona: withDefault(text, ''),
  variables: withDefault(texts, {}),
});
export type Preset = ReturnType<typeof Preset>;

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

/** The distinct names of the variables, in the order of the prompt. */
export const variablesOf = (draft: Draft): string[] => [
  ...new Set(Array.from(promptOf(draft).matchAll(VARIABLE), ([, double, single]) => double ?? single ?? '')),
];

/** A variable without a value is left as it is written. */
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
