import { JSON_TYPE } from './reply.ts';

/**
 * A handler for what is below a path of another server, which hands requests on with that path: the handler gets them
 * without it. What is not below it is answered with 404.
 *
 * @param path such as `/api/agents`
 * @example
 * // app/api/agents/[...path]/route.ts of a Next.js app
 * const handler = underPath('/api/agents', troupe.fetch);
 * export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE };
 */
export const underPath = (
  path: string,
  handler: (request: Request) => Promise<Response>,
): ((request: Request) => Promise<Response>) => {
  const base = path.replace(/\/+$/, '');
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
