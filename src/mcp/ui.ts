import { z } from 'zod';
import type { JsonObject } from '../schema/endpoint.ts';
import { askLink, type Link, supports } from './link.ts';
import type { ToolDefinition } from './listing.ts';

/** Reads the user interface of a tool, a resource, after its call (mcp.md B8). The result waits for it only briefly. */

const PATIENCE_MS = 500;

const Contents = z.looseObject({
  contents: z.array(z.looseObject({ text: z.string().optional(), mimeType: z.string().optional() })),
});

/** Never fails. */
export const readUi = async (
  link: Link,
  { _meta }: ToolDefinition,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const uri = _meta?.ui?.resourceUri;
  if (uri === undefined || !supports(link, 'resources')) return {};
  const late = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { contents } = await askLink(link, {
      method: 'resources/read',
      params: { uri },
      result: Contents,
      timeoutMs: PATIENCE_MS,
      signal: AbortSignal.any([signal, late]),
    });
    const [first] = contents;
    if (first?.text === undefined) return {};
    return {
      'mcp.ui.resourceUri': uri,
      'mcp.ui.content': first.text,
      'mcp.ui.mimeType': first.mimeType ?? 'text/html',
    };
  } catch {
    return {};
  }
};
