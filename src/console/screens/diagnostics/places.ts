import type { Diagnostic } from '../../data/resources.ts';

/** Where entries of the configuration are looked at, and where one that is missing is made. */

const OPEN: Readonly<Record<string, (id: string) => string>> = {
  agents: (id) => `/agents/${id}`,
  models: (id) => `/models?edit=${id}`,
  'model-pools': (id) => `/model-pools?edit=${id}`,
  providers: (id) => `/providers?edit=${id}`,
  'mcp-servers': (id) => `/mcp-servers/${id}`,
  'a2a-servers': (id) => `/a2a-servers?server=${id}`,
  skills: (id) => `/skills/${id}`,
  tools: (id) => `/tools/${id}`,
};

const CREATE: Readonly<Record<string, string>> = {
  agents: '/agents/new',
  models: '/models?new=1',
  'model-pools': '/model-pools?new=1',
  providers: '/providers?new=1',
  'mcp-servers': '/mcp-servers?new=1',
  'a2a-servers': '/a2a-servers?new=1',
  skills: '/skills/new',
};

type Place = Diagnostic['resource'];

/** In which part of the editor of agents it is put right. */
const TABS: readonly (readonly [RegExp, string])[] = [
  [/plugin|hook_filter|section/, 'plugins'],
  [/delegate/, 'delegates'],
  [/skill/, 'skills'],
];

export const placeOf = ({ resource, code }: Pick<Diagnostic, 'resource' | 'code'>): string | undefined => {
  const href = OPEN[resource.namespace]?.(encodeURIComponent(resource.id));
  const tab = resource.namespace === 'agents' ? TABS.find(([pattern]) => pattern.test(code))?.[1] : undefined;
  return href !== undefined && tab !== undefined ? `${href}?tab=${tab}` : href;
};

/** Undefined: nobody can make it here, such as a plugin. */
export const creationOf = ({ namespace }: Place): string | undefined => CREATE[namespace];

export const historyOf = ({ namespace, id }: Place): string =>
  `/audit-log?resource=${encodeURIComponent(`${namespace}/${id}`)}`;

/** The worst first, each kind together. */
export const grouped = (
  found: readonly Diagnostic[],
): [severity: 'error' | 'warning' | 'other', Diagnostic[]][] => {
  const of = (severity: string): 'error' | 'warning' | 'other' =>
    severity === 'error' || severity === 'warning' ? severity : 'other';
  return (['error', 'warning', 'other'] as const)
    .map((severity): [typeof severity, Diagnostic[]] => [
      severity,
      found.filter((one) => of(one.severity) === severity),
    ])
    .filter(([, own]) => own.length > 0);
};
