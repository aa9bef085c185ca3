/** Addresses of the screens that show an entry of the configuration, by its namespace. */

const PATHS = {
  agents: '/agents/',
  skills: '/skills/',
  tools: '/tools/',
  'mcp-servers': '/mcp-servers/',
  'a2a-servers': '/a2a-servers?q=',
  providers: '/providers?edit=',
  models: '/models?edit=',
  'model-pools': '/model-pools?edit=',
  budgets: '/budgets?edit=',
  datasets: '/datasets/',
} as const;

export type EntryPlace = keyof typeof PATHS;

const isPlace = (namespace: string): namespace is EntryPlace => Object.hasOwn(PATHS, namespace);

/** Empty for a namespace without a screen. @example entryHref('agents', 'planner') // '/agents/planner' */
export const entryHref = (namespace: string, id: string): string =>
  isPlace(namespace) ? PATHS[namespace] + encodeURIComponent(id) : '';
