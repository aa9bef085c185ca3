import { anyObject, fields, number, object, optional, text } from './guard.ts';

/** Metadata of an entry of the configuration. */

export const Meta = object({
  source: object({ kind: text }),
  user_overrides: optional(anyObject),
  /** Values of the overridden fields without the override. */
  base: optional(anyObject),
  ...fields(optional(number), 'created_at', 'updated_at', 'version', 'revision'),
  actor: optional(text),
});
export type Meta = ReturnType<typeof Meta>;

export type SourceState = 'user' | 'customized' | 'builtin';

export const sourceState = (meta: Meta | undefined): SourceState | undefined => {
  if (!meta) return undefined;
  if (meta.source.kind === 'user') return 'user';
  return Object.keys(meta.user_overrides ?? {}).length > 0 ? 'customized' : 'builtin';
};
