import { anything, isObject, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Facts } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './AgentEditor.module.css';
import { textsOf } from './draft.ts';
import { texts } from './texts.ts';

/** An agent of another service: its card, and nothing to change. */

const Status = object({ last_error: optional(text), card: anything });

type Found = { card: unknown; last_error: string | undefined };

const statusOf = (server: string): Resource<Found> => ({
  path: pathOf`/v1/a2a-servers/${server}/status`,
  guard: Status,
});

const words = (values: readonly string[]) =>
  values.length === 0 ? '—' : values.map((value) => <Chip key={value}>{value}</Chip>);

const said = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : '—');

const named = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((one) => (isObject(one) ? [said(one.name ?? one.id ?? one.url)] : []))
    : [];

const AgentCard = ({ server, found }: { server: string; found: Found }) => {
  const t = useTexts(texts);
  const card = isObject(found.card) ? found.card : undefined;
  if (!card)
    return (
      <Notice tone="error" title={t('remote.unreachable')}>
        {found.last_error}
      </Notice>
    );
  const { capabilities } = card;
  const can = isObject(capabilities)
    ? Object.keys(capabilities).filter((key) => capabilities[key] === true)
    : [];
  const interfaces = card.supportedInterfaces ?? card.interfaces ?? card.additionalInterfaces;
  return (
    <>
      <Facts
        rows={[
          [t('remote.name'), said(card.name)],
          [t('remote.version'), said(card.version)],
          [t('remote.description'), said(card.description)],
          [
            t('remote.server'),
            <ScreenLink key="server" to={`/a2a-servers?q=${encodeURIComponent(server)}`}>
              {server}
            </ScreenLink>,
          ],
          [t('remote.skills'), words(named(card.skills))],
          [t('remote.interfaces'), words(named(interfaces))],
          [
            t('remote.modes'),
            words([...new Set([...textsOf(card.defaultInputModes), ...textsOf(card.defaultOutputModes)])]),
          ],
          [t('remote.capabilities'), words(can)],
        ]}
      />
      <h2 className={css.cardHead}>{t('remote.card')}</h2>
      <Json value={card} />
    </>
  );
};

export const RemoteAgent = ({ id, server }: { id: string; server: string }) => {
  const t = useTexts(texts);
  const query = useResource(statusOf(server));
  return (
    <div className={css.alone}>
      <ScreenLink to="/agents" className={css.back}>
        <Icon name="chevronLeft" size={14} />
        {t('back')}
      </ScreenLink>
      <div className={css.title}>
        <h1>{id}</h1>
        <Chip tone="agent">{t('remote.title', { server })}</Chip>
      </div>
      <p className={css.note}>{t('remote.text')}</p>
      <Card title={t('remote.card')}>
        <Loaded query={query}>{(found) => <AgentCard server={server} found={found} />}</Loaded>
      </Card>
    </div>
  );
};
