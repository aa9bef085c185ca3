/**
 * What the page shows is part of its address, so that loading it again shows it again: `?agent=…`, `&thread=…`,
 * `&service=…`.
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
