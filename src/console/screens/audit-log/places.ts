import { placeOf } from './audit-event.ts';

const PATHS: Readonly<Record<string, string>> = {
  agents: '/agents/',
  'mcp-servers': '/mcp-servers/',
  skills: '/skills/',
  tools: '/tools/',
  providers: '/providers?edit=',
  models: '/models?edit=',
  'model-pools': '/model-pools?edit=',
  'a2a-servers': '/a2a-servers?q=',
  datasets: '/datasets/',
};

/** Where a resource of the log is shown; empty where it has no screen. */
export const hrefOf = (resource: string): string => {
  const place = placeOf(resource);
  const path = PATHS[place?.namespace ?? ''];
  return place && path ? `${path}${encodeURIComponent(place.id)}` : '';
};
