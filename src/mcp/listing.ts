import { z } from 'zod';
import { isObject } from '../schema/endpoint.ts';
import { JsonObject } from '../schema/json.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import { McpFailure, protocolFailure } from './failure.ts';
import type { LeftOut } from './left-out.ts';
import { askLink, isModern, type Link } from './link.ts';
import { declaredHeaders } from './param-headers.ts';
import { longestMs } from './session.ts';

/** The lists of a server, page by page (mcp.md B7, B12). What is past the bounds is left out, and `tell` says so. */

/** A member that is no text is ignored. */
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
  tell(text: string): void;
};

/** A server that has no such method has no tools. @throws McpFailure */
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
  { timeoutMs, signal, tell }: Asking,
): Promise<unknown[]> => {
  const late = AbortSignal.timeout(longestMs(timeoutMs));
  const within = signal ? AbortSignal.any([signal, late]) : late;
  const items: unknown[] = [];
  const read = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let pages = 0; pages < BOUNDS.pages; pages += 1) {
    const page = await askLink(link, {
      method,
      params: cursor === undefined ? {} : { cursor },
      result: Page,
      timeoutMs,
      signal: within,
    }).catch((error: unknown) => {
      if (error instanceof McpFailure && error.code === UNKNOWN_METHOD) return NO_PAGE;
      throw error;
    });
    const found = page[member];
    if (found !== undefined && !Array.isArray(found))
      throw protocolFailure(`the result of ${method} has no list`);
    const written = JSON.stringify(page);
    // A server that ignores the cursor sends its first page for ever.
    if (read.has(written)) return items;
    read.add(written);
    bytes += written.length;
    items.push(...(found ?? []));
    if (items.length > BOUNDS.entries || bytes > BOUNDS.listBytes) {
      tell(`${method} offers more than is taken`);
      return items.slice(0, BOUNDS.entries);
    }
    if (typeof page.nextCursor !== 'string' || page.nextCursor === '') return items;
    cursor = page.nextCursor;
  }
  tell(`${method} has more than ${BOUNDS.pages} pages`);
  return items;
};

const Page = z.looseObject({ nextCursor: z.unknown().optional() });

const NO_PAGE: z.infer<typeof Page> = {};
