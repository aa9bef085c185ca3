import type { Problem } from '../../activity/Problems.tsx';
import { redactText } from '../../data/redact-text.ts';
import type { Diagnostic } from '../../data/resources.ts';
import { hrefOf } from '../audit-log/audited-resource.ts';

/** Screens of configuration entries, and those where a missing entry can be created. */

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

/** The tab of the agent editor where the problem can be fixed. */
const TABS: readonly (readonly [RegExp, string])[] = [
  [/plugin|hook_filter|section/, 'plugins'],
  [/delegate/, 'delegates'],
  [/skill/, 'skills'],
];

export const placeOf = ({ resource, code }: Pick<Diagnostic, 'resource' | 'code'>): string | undefined => {
  const href = hrefOf(`${resource.namespace}/${resource.id}`) || undefined;
  const tab = resource.namespace === 'agents' ? TABS.find(([pattern]) => pattern.test(code))?.[1] : undefined;
  return href !== undefined && tab !== undefined ? `${href}?tab=${tab}` : href;
};

/** Undefined for kinds that cannot be created in the console, such as plugins. */
export const creationOf = ({ namespace }: Place): string | undefined => CREATE[namespace];

export const historyOf = ({ namespace, id }: Place): string =>
  `/audit-log?resource=${encodeURIComponent(`${namespace}/${id}`)}`;

const TONES: Readonly<Record<string, Problem['tone']>> = { error: 'error', warning: 'warn' };

/** A diagnostic with the links that repair it. */
export const problemOf = (
  found: Diagnostic,
  t: (key: 'open' | 'fix.create', values: { id: string }) => string,
): Problem => {
  const { code, severity, resource, depends_on: missing, message } = found;
  const open = placeOf(found);
  const create = missing && creationOf(missing);
  return {
    id: `${code} ${resource.namespace}/${resource.id} ${missing?.id} ${message}`,
    tone: TONES[severity] ?? 'info',
    text: redactText(message),
    code,
    links: [
      ...(open === undefined ? [] : [{ text: t('open', { id: resource.id }), href: open }]),
      ...(missing && create !== undefined
        ? [{ text: t('fix.create', { id: missing.id }), href: create }]
        : []),
    ],
  };
};

/** Groups by severity, worst first. */
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
