import { z } from 'zod';

/**
 * The messages of A2UI 0.8 that `render_a2ui` accepts (agent-loop.md 14.5). Component types and their properties are
 * defined by a catalog of the client; the checks here cover the rules that all catalogs share, and the three components
 * that models most often get wrong.
 */

const text = z.string().min(1, 'must not be empty');
// A record or a recursive type would give the tool a schema that some providers reject.
const anyObject = z.looseObject({});

const Component = z.strictObject({
  id: text,
  weight: z.number().optional(),
  component: z
    .object({})
    .catchall(anyObject)
    .superRefine((component, context) => {
      const types = Object.keys(component);
      if (types.length !== 1) {
        context.addIssue(`expected exactly one component type, got ${types.length}`);
        return;
      }
      for (const [type, properties] of Object.entries(component)) {
        const issues = Object.hasOwn(CHECKS, type)
          ? CHECKS[type]?.safeParse(properties).error?.issues
          : undefined;
        for (const { path, message } of issues ?? []) {
          context.addIssue({ code: 'custom', path: [type, ...path], message });
        }
      }
    }),
});

const forbidden = (instead: string) => z.undefined(`is not allowed; ${instead}`).optional();

const CHECKS: Readonly<Record<string, z.ZodType>> = {
  Text: z.looseObject({ text: anyObject }),
  Button: z.looseObject({
    action: z.looseObject({
      name: text,
      context: z.array(z.looseObject({ key: text, value: anyObject })).optional(),
    }),
  }),
  MultipleChoice: z.looseObject({
    options: z.array(z.unknown()),
    selections: anyObject,
    choices: forbidden('use options'),
    label: forbidden('use a Text component'),
    value: forbidden('use selections'),
  }),
};

const scalars = {
  key: text,
  valueString: z.string().optional(),
  valueNumber: z.number().optional(),
  valueBoolean: z.boolean().optional(),
};

const oneValue = (entry: object): boolean =>
  Object.entries(entry).filter(([name, value]) => name !== 'key' && value !== undefined).length === 1;
const ONE_VALUE = 'expected exactly one of valueString, valueNumber, valueBoolean, valueMap';

const Entry = z.strictObject(scalars).refine(oneValue, ONE_VALUE);
const Content = z
  .strictObject({ ...scalars, valueMap: z.array(Entry).optional() })
  .refine(oneValue, ONE_VALUE);

/** Schemas of the messages by wrapper key. */
export const A2UI_MESSAGES = {
  surfaceUpdate: z.strictObject({
    surfaceId: text,
    components: z.array(Component).min(1, 'must not be empty'),
  }),
  dataModelUpdate: z.strictObject({
    surfaceId: text,
    path: z.string().optional(),
    contents: z.array(Content).min(1, 'must not be empty'),
  }),
  beginRendering: z.strictObject({ surfaceId: text, root: text, styles: anyObject.optional() }),
  deleteSurface: z.strictObject({ surfaceId: text }),
};
export type A2uiKey = keyof typeof A2UI_MESSAGES;

// In the order of the error message.
export const A2UI_KEYS: readonly A2uiKey[] = [
  'surfaceUpdate',
  'dataModelUpdate',
  'beginRendering',
  'deleteSurface',
];

const Message = z.strictObject({
  surfaceUpdate: A2UI_MESSAGES.surfaceUpdate.optional(),
  dataModelUpdate: A2UI_MESSAGES.dataModelUpdate.optional(),
  beginRendering: A2UI_MESSAGES.beginRendering.optional(),
  deleteSurface: A2UI_MESSAGES.deleteSurface.optional(),
});

/** Schema for the model. Providers reject a union at the top level, so the tool description states "exactly one". */
export const A2uiArguments = Message.extend({
  messages: z.array(Message).optional().meta({ description: 'several messages, in the order to apply' }),
});
