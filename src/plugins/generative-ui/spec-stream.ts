import jsonPatch from 'fast-json-patch';
import { z } from 'zod';
import { Json } from '../../schema/json.ts';

/**
 * A SpecStream is a UI as JSON Patch operations, one a line, so that a client can draw while the model writes.
 * Compiled, it is a tree: the id of its root and all elements by id (agent-loop.md 14.5).
 *
 * Blank lines and code fences are passed over; models put them there whatever they are told.
 */

const Spec = z.object({
  root: z.string().min(1),
  elements: z.record(z.string(), z.looseObject({ type: z.string() })),
});

const Operation = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace', 'test']), path: z.string(), value: Json }),
  z.object({ op: z.literal('remove'), path: z.string() }),
  z.object({ op: z.enum(['move', 'copy']), path: z.string(), from: z.string() }),
]);

/** @throws Error that names the line, or what the tree lacks */
export const compileSpecStream = (text: string): { root: string; elements: Json } => {
  let compiled: unknown = { elements: {} };
  for (const [index, line] of text.split('\n').entries()) {
    const operation = line.trim();
    if (operation === '' || operation.startsWith('```')) continue;
    try {
      compiled = jsonPatch.applyOperation(compiled, Operation.parse(JSON.parse(operation)), true).newDocument;
    } catch (cause) {
      throw new Error(`line ${index + 1} is not an operation that applies: ${operation.slice(0, 100)}`, {
        cause,
      });
    }
  }
  return checked(compiled);
};

const checked = (compiled: unknown): { root: string; elements: Json } => {
  const spec = Spec.safeParse(compiled);
  if (!spec.success) {
    const faults = spec.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(faults.join('; '));
  }
  const { root, elements } = spec.data;
  if (!Object.hasOwn(elements, root)) throw new Error(`root "${root}" is not among the elements`);
  // Everything in it was parsed from JSON text.
  return { root, elements: elements as Json };
};
