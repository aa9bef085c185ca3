import { z } from 'zod';
import { JsonObject } from '../schema/json.ts';
import { BOUNDS } from './bounds.ts';
import { McpFailure, protocolFailure } from './failure.ts';
import { askLink, type Link } from './link.ts';

/** The lists of a server, page by page (mcp.md B7, B12). What is past the bounds is left out, and `tell` says so. */

export const ToolDefinition = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  // Providers refuse every tool of an agent for one whose arguments are no object.
  inputSchema: JsonObject.refine(({ type = 'object' }) => type === 'object', {
    error: 'is not of type object',
  }),
  group: z.string().optional(),
  annotations: z.looseObject({ title: z.string().optional() }).optional(),
  _meta: z.looseObject({ ui: z.looseObject({ resourceUri: z.string() }).optional() }).optional(),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

export type Asking = {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  tell(text: string): void;
};

/** A server that has no such method has no tools. @throws McpFailure */
export const listTools = async (link: Link, asking: Asking): Promise<ToolDefinition[]> => {
  const found = await listAll(link, { method: 'tools/list', member: 'tools' }, asking);
  return found.flatMap((item) => {
    const { success, data, error } = ToolDefinition.safeParse(item);
    if (success && JSON.stringify(data).length <= BOUNDS.toolBytes) return [data];
    asking.tell(
      success
        ? `the definition of tool ${data.name} is too large`
        : `a tool is not legal: ${z.prettifyError(error)}`,
    );
    return [];
  });
};

const UNKNOWN_METHOD = -32_601;

/** @throws McpFailure */
export const listAll = async (
  link: Link,
  { method, member }: { method: string; member: string },
  { timeoutMs, signal, tell }: Asking,
): Promise<unknown[]> => {
  const items: unknown[] = [];
  let cursor: string | undefined;
  let bytes = 0;
  for (let pages = 0; pages < BOUNDS.pages; pages += 1) {
    const page = await askLink(link, {
      method,
      params: cursor === undefined ? {} : { cursor },
      result: Page,
      timeoutMs,
      signal,
    }).catch((error: unknown) => {
      if (error instanceof McpFailure && error.code === UNKNOWN_METHOD) return NO_PAGE;
      throw error;
    });
    const found = page[member];
    if (found !== undefined && !Array.isArray(found))
      throw protocolFailure(`the result of ${method} has no list`);
    bytes += JSON.stringify(page).length;
    items.push(...(found ?? []));
    if (items.length > BOUNDS.entries || bytes > BOUNDS.listBytes) {
      tell(`${method} offers more than is taken`);
      return items.slice(0, BOUNDS.entries);
    }
    if (page.nextCursor === undefined || page.nextCursor === cursor) return items;
    cursor = page.nextCursor;
  }
  tell(`${method} has more than ${BOUNDS.pages} pages`);
  return items;
};

type Page = Record<string, unknown> & { nextCursor?: string | undefined };
const Page: z.ZodType<Page> = z.looseObject({ nextCursor: z.string().optional() });

const NO_PAGE: Page = {};
