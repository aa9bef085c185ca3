import { withoutTrailingSlashes } from '../schema/trailing-slashes.ts';
import { JSON_TYPE } from './reply.ts';

/**
 * Adapts a handler to a server that forwards requests below a path with that path included: the handler receives them
 * without it. Requests outside of the path receive a 404.
 *
 * @param path such as `/api/agents`
 * @example
 * ```ts
 * // app/api/agents/[...path]/route.ts of a Next.js app
 * const handler = underPath('/api/agents', troupe.fetch);
 * export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE };
 * ```
 */
export const underPath = (
  path: string,
  handler: (request: Request) => Promise<Response>,
): ((request: Request) => Promise<Response>) => {
  const base = withoutTrailingSlashes(path);
  return (request) => {
    const url = new URL(request.url);
    const { pathname } = url;
    if (!pathname.startsWith(`${base}/`)) return Promise.resolve(refused(`no such path: ${pathname}`));
    url.pathname = pathname.slice(base.length);
    return handler(new Request(url, request));
  };
};

const refused = (error: string): Response =>
  new Response(JSON.stringify({ error }), { status: 404, headers: { 'content-type': JSON_TYPE } });
