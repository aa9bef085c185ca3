import { z } from 'zod';
import { isObject } from '../schema/endpoint.ts';
import { JsonObject } from '../schema/json.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import { McpFailure, protocolFailure } from './failure.ts';
import type { LeftOut } from './left-out.ts';
import { askLink, isModern, type Link } from './link.ts';
import { declaredHeaders } from './param-headers.ts';
import { longestMs } from './session.ts';

/** Reads the lists of a server page by page (mcp.md B7, B12). Entries beyond the limits are omitted and logged. */

/** A member that is not a string is ignored. */
const text = z.string().optional().catch(undefined);

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

export const ToolDefinition = z.looseObject({
  name: z.string(),
  title: text,
  description: text,
  inputSchema: JsonObject.default(NO_ARGUMENTS),
  group: text,
  annotations: z.looseObject({ title: text }).optional().catch(undefined),
  execution: z.looseObject({ taskSupport: text }).optional().catch(undefined),
  _meta: z
    .looseObject({ ui: z.looseObject({ resourceUri: z.string() }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

export type Asking = {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  report(text: string): void;
};

/** A server without this method has no tools. @throws McpFailure */
export const listTools = async (
  link: Link,
  asking: Asking,
): Promise<{ tools: ToolDefinition[]; unusable: LeftOut[] }> => {
  const found = await listAll(link, { method: 'tools/list', member: 'tools' }, asking);
  const known = new Set<string>();
  const unusable: LeftOut[] = [];
  const tools = found.flatMap((item) => {
    // Pages may overlap.
    const written = JSON.stringify(item);
    if (known.has(written)) return [];
    known.add(written);
    const { success, data, error } = ToolDefinition.safeParse(item);
    const reason = success
      ? illegalBecause(data, isModern(link))
      : `the definition is not legal: ${z.prettifyError(error)}`;
    if (success && reason === undefined) return [data];
    unusable.push({ name: nameIn(item), reason: reason ?? '' });
    return [];
  });
  return { tools, unusable };
};

const illegalBecause = (definition: ToolDefinition, modern: boolean): string | undefined => {
  if (JSON.stringify(definition).length > BOUNDS.toolBytes)
    return `the definition has more than ${BOUNDS.toolBytes} bytes`;
  const declared = modern ? declaredHeaders(definition.inputSchema) : undefined;
  return declared && 'problem' in declared ? declared.problem : undefined;
};

const nameIn = (item: unknown): string =>
  isObject(item) && typeof item.name === 'string' ? excerpt(item.name) : '';

const UNKNOWN_METHOD = -32_601;

/** @throws McpFailure */
export const listAll = async (
  link: Link,
  { method, member }: { method: string; member: string },
  { timeoutMs, signal, report }: Asking,
): Promise<unknown[]> => {
  const late = AbortSignal.timeout(longestMs(timeoutMs));
  const within = signal ? AbortSignal.any([signal, late]) : late;
  const items: unknown[] = [];
  const read = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let pages = 0; pages < BOUNDS.pages; pages += 1) {
    const page = await readPage(link, { method, cursor, timeoutMs, signal: within });
    const found = entriesIn(page, method, member);
    const written = JSON.stringify(page);
    // A server that ignores the cursor sends its first page repeatedly.
    if (read.has(written)) return items;
    read.add(written);
    bytes += written.length;
    items.push(...found);
    if (items.length > BOUNDS.entries || bytes > BOUNDS.listBytes) {
      report(`${method} offers more than the limit`);
      return items.slice(0, BOUNDS.entries);
    }
    if (typeof page.nextCursor !== 'string' || page.nextCursor === '') return items;
    cursor = page.nextCursor;
  }
  report(`${method} has more than ${BOUNDS.pages} pages`);
  return items;
};

type PageRequest = { method: string; cursor: string | undefined; timeoutMs: number; signal: AbortSignal };

const readPage = async (
  link: Link,
  { method, cursor, timeoutMs, signal }: PageRequest,
): Promise<z.infer<typeof Page>> => {
  try {
    const params = cursor === undefined ? {} : { cursor };
    return await askLink(link, { method, params, result: Page, timeoutMs, signal });
  } catch (error) {
    if (error instanceof McpFailure && error.code === UNKNOWN_METHOD) return NO_PAGE;
    throw error;
  }
};

/** @throws McpFailure */
const entriesIn = (page: z.infer<typeof Page>, method: string, member: string): unknown[] => {
  const found = page[member];
  if (found === undefined) return [];
  if (!Array.isArray(found)) throw protocolFailure(`the result of ${method} has no list`);
  return found;
};

const Page = z.looseObject({ nextCursor: z.unknown().optional() });

const NO_PAGE: z.infer<typeof Page> = {};
