import { lazy, Suspense } from 'react';
import { useResource } from '../../data/queries.ts';
import { Chip } from '../../design/Chip.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { AgentCard } from '../../remote/AgentCard.tsx';
import { remoteStatus } from '../../remote/status.ts';
import remoteTexts from '../../remote/texts.json' with { type: 'json' };
import css from './AgentEditor.module.css';
import { BackLink } from './Header.tsx';
import texts from './texts.json' with { type: 'json' };

const ConnectTo = lazy(() => import('./connect/ConnectTo.tsx'));

/** A read-only agent of another service with its card. */
export const RemoteAgent = ({ id, server }: { id: string; server: string }) => {
  const t = useTexts(texts);
  const remote = useTexts(remoteTexts);
  const query = useResource(remoteStatus(server));
  return (
    <div className={css.alone}>
      <BackLink />
      <div className={css.title}>
        <h1>{id}</h1>
        <Chip tone="agent">{t('remote.title', { server })}</Chip>
      </div>
      <p className="quiet">{t('remote.text')}</p>
      <Card title={remote('card')}>
        <Loaded query={query}>{(found) => <AgentCard server={server} status={found} />}</Loaded>
      </Card>
      <Suspense>
        <ConnectTo agentId={id} />
      </Suspense>
    </div>
  );
};
