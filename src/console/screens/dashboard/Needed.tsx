import { useResource } from '../../data/queries.ts';
import { NamedRecord, type Namespace, recordsOf } from '../../data/records.ts';
import { redactText } from '../../data/redact-text.ts';
import { diagnostics, runsSummary } from '../../data/resources.ts';
import { Chip, Dot, type Tone } from '../../design/Chip.tsx';
import { Card } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { hrefOf } from '../audit-log/places.ts';
import css from './Dashboard.module.css';
import { useServers } from './Health.tsx';
import { texts } from './texts.ts';

type Need = { id: string; tone: Tone; text: string; href: string };

const useNeeds = (): Need[] => {
  const t = useTexts(texts);
  const waiting = useResource(runsSummary).data?.waiting ?? 0;
  const found = useResource(diagnostics).data?.diagnostics ?? [];
  const { states } = useServers();
  return [
    ...(waiting > 0
      ? [
          {
            id: 'waiting',
            tone: 'warn' as const,
            text: t('needed.waiting', { count: waiting }),
            href: '/inbox',
          },
        ]
      : []),
    ...states
      .filter(({ status }) => status.permanently_failed)
      .map(({ id, status }) => ({
        id: `mcp/${id}`,
        tone: 'error' as const,
        text: redactText(t('needed.mcp', { id, error: status.last_error ?? '' })),
        href: `/mcp-servers/${encodeURIComponent(id)}`,
      })),
    ...found
      .filter(({ severity }) => severity === 'error')
      .map(({ code, resource, message }) => ({
        id: `${code}/${resource.namespace}/${resource.id}/${message}`,
        tone: 'error' as const,
        text: redactText(message),
        href: hrefOf(`${resource.namespace}/${resource.id}`),
      })),
  ];
};

/** What somebody has to do something about; not there while there is nothing. */
export const ActionNeeded = () => {
  const t = useTexts(texts);
  const needs = useNeeds();
  if (needs.length === 0) return null;
  return (
    <Card className={css.twelve} title={t('needed.title')}>
      <ul className={css.needed}>
        {needs.map(({ id, tone, text, href }) => (
          <li key={id}>
            <Dot tone={tone} />
            <ScreenLink to={href}>{text}</ScreenLink>
          </li>
        ))}
      </ul>
    </Card>
  );
};

const STEPS: readonly [Namespace, 'start.provider' | 'start.model' | 'start.agent', string][] = [
  ['providers', 'start.provider', '/providers'],
  ['models', 'start.model', '/models'],
  ['agents', 'start.agent', '/agents/new'],
];

const useCount = (namespace: Namespace): number | undefined =>
  useResource(recordsOf(namespace, NamedRecord)).data?.length;

/** Until there is one of each. */
export const FirstSteps = () => {
  const t = useTexts(texts);
  const counts = [useCount('providers'), useCount('models'), useCount('agents')];
  if (counts.some((count) => count === undefined) || counts.every((count) => count !== 0)) return null;
  return (
    <Card className={css.twelve} title={t('start.title')}>
      <ol className={css.needed}>
        {STEPS.map(([namespace, label, href], index) => {
          const isDone = (counts[index] ?? 0) > 0;
          return (
            <li key={namespace}>
              <Chip tone={isDone ? 'success' : 'warn'}>{t(isDone ? 'start.done' : 'start.open')}</Chip>
              <ScreenLink to={href}>{t(label)}</ScreenLink>
            </li>
          );
        })}
      </ol>
    </Card>
  );
};
