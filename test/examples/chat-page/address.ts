/**
 * The state of the page is part of its address, so that reloading restores it: `?agent=…`, `&thread=…`, `&service=…`.
 */

const query = new URLSearchParams(location.search);

const newThread = (): string => {
  const id = crypto.randomUUID();
  query.set('thread', id);
  history.replaceState(null, '', `?${query}`);
  return id;
};

export const address = {
  url: query.get('service') ?? 'http://127.0.0.1:38080',
  agentId: query.get('agent') ?? 'default',
  threadId: query.get('thread') ?? newThread(),
};
