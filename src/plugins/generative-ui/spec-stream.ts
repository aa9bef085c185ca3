import { applyPatch } from 'rfc6902';
import { z } from 'zod';
import { Json } from '../../schema/json.ts';

/**
 * A SpecStream is a UI as JSON Patch operations, one per line, so that a client can render while the model writes.
 * Compiled, it is a tree: the id of the root, and all elements by id (agent-loop.md 14.5).
 *
 * Blank lines and code fences are skipped, because models write them despite their instructions.
 */

const Spec = z.object({
  root: z.string().min(1),
  elements: z.record(z.string(), z.looseObject({ type: z.string() })),
});

/** A JSON pointer. The reserved names are rejected because objects inherit them and no element has such a name. */
const Path = z.string().regex(/^(?!.*\/(?:__proto__|constructor|prototype)(?:\/|$))(?:\/.*)?$/s);

const Operation = z.discriminatedUnion('op', [
  z.object({ op: z.enum(['add', 'replace', 'test']), path: Path, value: Json }),
  z.object({ op: z.literal('remove'), path: Path }),
  z.object({ op: z.enum(['move', 'copy']), path: Path, from: Path }),
]);

/** @throws Error with the line that failed, or with the missing parts of the tree */
export const compileSpecStream = (text: string): { root: string; elements: Json } => {
  // An operation may replace the whole document, so the document is a member of the patched object.
  const patched: { spec: unknown } = { spec: { elements: {} } };
  for (const [index, line] of text.split('\n').entries()) {
    const operation = line.trim();
    if (operation === '' || operation.startsWith('```')) continue;
    try {
      const [failure] = applyPatch(patched, [below('/spec', Operation.parse(JSON.parse(operation)))]);
      if (failure) throw failure;
    } catch (cause) {
      throw new Error(`line ${index + 1} is not an operation that applies: ${operation.slice(0, 100)}`, {
        cause,
      });
    }
  }
  return checked(patched.spec);
};

const below = (parent: string, operation: z.infer<typeof Operation>): z.infer<typeof Operation> => ({
  ...operation,
  path: parent + operation.path,
  ...('from' in operation && { from: parent + operation.from }),
});

const checked = (compiled: unknown): { root: string; elements: Json } => {
  const spec = Spec.safeParse(compiled);
  if (!spec.success) {
    const faults = spec.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(faults.join('; '));
  }
  const { root, elements } = spec.data;
  if (!Object.hasOwn(elements, root)) throw new Error(`root "${root}" is not among the elements`);
  // All values were parsed from JSON text.
  return { root, elements: elements as Json };
};
