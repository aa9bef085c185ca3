import { useResource } from '../../data/queries.ts';
import { Chip } from '../../design/Chip.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { AgentCard } from '../../remote/AgentCard.tsx';
import { remoteStatus } from '../../remote/status.ts';
import { texts as remoteTexts } from '../../remote/texts.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './AgentEditor.module.css';
import { texts } from './texts.ts';

/** An agent of another service: its card, and nothing to change. */
export const RemoteAgent = ({ id, server }: { id: string; server: string }) => {
  const t = useTexts(texts);
  const remote = useTexts(remoteTexts);
  const query = useResource(remoteStatus(server));
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
      <Card title={remote('card')}>
        <Loaded query={query}>{(found) => <AgentCard server={server} status={found} />}</Loaded>
      </Card>
    </div>
  );
};
