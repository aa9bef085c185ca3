import { anyObject, type Guarded, number, object, optional, text } from './guard.ts';

/** Metadata of an entry of the configuration. */

export const Meta = object({
  source: object({ kind: text }),
  user_overrides: optional(anyObject),
  /** Values of the overridden fields without the override. */
  base: optional(anyObject),
  created_at: optional(number),
  updated_at: optional(number),
  actor: optional(text),
  version: optional(number),
  revision: optional(number),
});
export type Meta = Guarded<typeof Meta>;

export type SourceState = 'user' | 'customized' | 'builtin';

export const sourceState = (meta: Meta | undefined): SourceState | undefined => {
  if (!meta) return undefined;
  if (meta.source.kind === 'user') return 'user';
  return Object.keys(meta.user_overrides ?? {}).length > 0 ? 'customized' : 'builtin';
};
