import { z } from 'zod';

/** An OpenAPI document as the tests parse it. */

const Whole = z.looseObject({ components: z.record(z.string(), z.record(z.string(), z.unknown())) });

const SHARED = /^#\/components\/(parameters|responses|headers)\/(.+)$/;

/** The document with shared parts inlined in each operation; schemas stay references, as they may be recursive. */
export const spelledOut = (document: unknown): object => {
  const { components, ...rest } = Whole.parse(document);
  const spell = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(spell);
    if (typeof value !== 'object' || value === null) return value;
    const [, kind = '', name = ''] = ('$ref' in value && SHARED.exec(String(value.$ref))) || [];
    if (kind === '') return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, spell(of)]));
    const found = components[kind]?.[name];
    if (found === undefined) throw new Error(`#/components/${kind}/${name} leads nowhere`);
    return spell(found);
  };
  const spelled = Object.entries(rest).map(([key, value]) => [key, spell(value)]);
  return { ...Object.fromEntries(spelled), components };
};
