import { Menu } from '@mantine/core';
import { useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { buttonLook, IconButton } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Icon, type IconName } from '../../design/Icon.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { DeleteDialog } from '../../entry/DeleteDialog.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import { isScreen } from '../../navigation/screen-paths.ts';
import css from './AgentEditor.module.css';
import { type Editing, sourceOf } from './editing.ts';
import { snippetOf } from './snippet.ts';
import { texts } from './texts.ts';

/** The name of the agent, its source, and a menu of further actions. */

type Asked = 'delete' | 'reset';

const More = ({ editing, onAsk }: { editing: Editing; onAsk: (asked: Asked) => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const { id } = editing.start;
  const copy = async (): Promise<void> => {
    await navigator.clipboard?.writeText(snippetOf(location.origin, id));
    toast('info', t('snippet.done'));
  };
  const save = (): void =>
    download(`${id}.json`, 'application/json', JSON.stringify(redact(editing.start), null, 2));
  const items: [
    icon: IconName,
    key: 'duplicate' | 'export' | 'snippet' | 'audit' | 'resetAll',
    () => void,
  ][] = [
    ['duplicate', 'duplicate', () => go(`/agents/new?from=${encodeURIComponent(id)}`)],
    ['download', 'export', save],
    ['copy', 'snippet', () => void copy()],
    ['audit', 'audit', () => go(`/audit-log?resource=${encodeURIComponent(`agents/${id}`)}`)],
    ['history', 'resetAll', () => onAsk('reset')],
  ];
  const isOffered = { audit: isScreen('/audit-log'), resetAll: sourceOf(editing) === 'customized' };
  return (
    <Menu>
      <Menu.Target>
        <IconButton icon="more" label={t('more')} />
      </Menu.Target>
      <Menu.Dropdown>
        {items
          .filter(([, key]) => !(key === 'audit' || key === 'resetAll') || isOffered[key])
          .map(([icon, key, run]) => (
            <Menu.Item key={key} leftSection={<Icon name={icon} />} onClick={run}>
              {t(key)}
            </Menu.Item>
          ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="trash" />} color="var(--error)" onClick={() => onAsk('delete')}>
          {t('delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

export const BackLink = () => {
  const t = useTexts(texts);
  return (
    <ScreenLink to="/agents" className={css.back}>
      <Icon name="chevronLeft" size={14} />
      {t('back')}
    </ScreenLink>
  );
};

export const Header = ({ editing, reset }: { editing: Editing; reset: () => void }) => {
  const t = useTexts(texts);
  const { id } = editing.start;
  const [asked, ask] = useState<Asked>();
  const close = (): void => ask(undefined);
  const stats = `/agents/${encodeURIComponent(id)}/dashboard`;
  const note = sourceOf(editing) === 'user' ? undefined : t('delete.builtin');
  return (
    <header>
      <BackLink />
      <div className={css.title}>
        <h1 title={id}>{editing.isNew ? t('title.new') : t('title', { id })}</h1>
        {!editing.isNew && (
          <>
            <SourceChip state={sourceOf(editing)} />
            <span className={css.tools}>
              {isScreen(stats) && (
                <ScreenLink to={stats} className={buttonLook}>
                  <Icon name="dashboard" />
                  {t('stats')}
                </ScreenLink>
              )}
              <More editing={editing} onAsk={ask} />
            </span>
          </>
        )}
      </div>
      {asked === 'delete' && (
        <DeleteDialog namespace="agents" entity="entity.agent" id={id} note={note} onClose={close} />
      )}
      {asked === 'reset' && (
        <ConfirmDialog
          title={t('reset.title', { id })}
          confirm={t('resetAll')}
          onConfirm={() => {
            close();
            reset();
          }}
          onClose={close}
        >
          <p>{t('reset.text')}</p>
        </ConfirmDialog>
      )}
    </header>
  );
};
