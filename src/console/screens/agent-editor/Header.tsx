import { Menu } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Icon } from '../../design/Icon.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink, useGo } from '../../shell/links.tsx';
import { isScreen } from '../../shell/screen-paths.ts';
import { toast } from '../../shell/toasts.ts';
import css from './AgentEditor.module.css';
import { type Editing, sourceOf } from './editing.ts';
import { snippetOf } from './snippet.ts';
import { texts } from './texts.ts';

/** Which agent this is, whether it is as it is stored, and what else can be done with it. */

type Asked = 'delete' | 'reset';

const More = ({ editing, onAsk }: { editing: Editing; onAsk: (asked: Asked) => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const { id } = editing.start;
  const copy = (): void => {
    void navigator.clipboard
      ?.writeText(snippetOf(location.origin, id))
      .then(() => toast('info', t('snippet.done')));
  };
  const item = (icon: Parameters<typeof Icon>[0]['name'], label: string, run: () => void, color?: string) => (
    <Menu.Item leftSection={<Icon name={icon} />} onClick={run} {...(color && { color })}>
      {label}
    </Menu.Item>
  );
  return (
    <Menu>
      <Menu.Target>
        <IconButton icon="more" label={t('more')} />
      </Menu.Target>
      <Menu.Dropdown>
        {item('duplicate', t('duplicate'), () => go(`/agents/new?from=${encodeURIComponent(id)}`))}
        {item('download', t('export'), () =>
          download(`${id}.json`, 'application/json', JSON.stringify(redact(editing.start), null, 2)),
        )}
        {item('copy', t('snippet'), copy)}
        {isScreen('/audit-log') &&
          item('audit', t('audit'), () => go(`/audit-log?resource=${encodeURIComponent(`agents/${id}`)}`))}
        {sourceOf(editing) === 'customized' && item('history', t('resetAll'), () => onAsk('reset'))}
        <Menu.Divider />
        {item('trash', t('delete'), () => onAsk('delete'), 'var(--error)')}
      </Menu.Dropdown>
    </Menu>
  );
};

const Dialogs = (props: {
  asked: Asked | undefined;
  editing: Editing;
  reset: () => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const { asked, editing, onClose } = props;
  const { id } = editing.start;
  if (asked === 'delete') {
    const note = sourceOf(editing) === 'user' ? undefined : t('delete.builtin');
    return <DeleteDialog namespace="agents" entity="entity.agent" id={id} note={note} onClose={onClose} />;
  }
  if (asked !== 'reset') return null;
  const confirm = (): void => {
    onClose();
    props.reset();
  };
  return (
    <ConfirmDialog
      title={t('reset.title', { id })}
      confirm={t('resetAll')}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t('reset.text')}</p>
    </ConfirmDialog>
  );
};

export const Header = (props: {
  editing: Editing;
  dirty: boolean;
  save: () => void;
  reset: () => void;
}): ReactNode => {
  const t = useTexts(texts);
  const { editing, dirty } = props;
  const { id } = editing.start;
  const [asked, ask] = useState<Asked>();
  const stats = `/agents/${encodeURIComponent(id)}/dashboard`;
  return (
    <header className={css.head}>
      <ScreenLink to="/agents" className={css.back}>
        <Icon name="chevronLeft" size={14} />
        {t('back')}
      </ScreenLink>
      <div className={css.title}>
        <h1 title={id}>{editing.isNew ? t('title.new') : t('title', { id })}</h1>
        {dirty ? <Chip tone="warn">{t('unsaved')}</Chip> : !editing.isNew && <Chip>{t('clean')}</Chip>}
        {!editing.isNew && <SourceChip state={sourceOf(editing)} />}
        {!editing.isNew && (
          <span className={css.tools}>
            {isScreen(stats) && (
              <ScreenLink to={stats} className={buttonLook}>
                <Icon name="dashboard" />
                {t('stats')}
              </ScreenLink>
            )}
            <More editing={editing} onAsk={ask} />
            {!dirty && (
              <Button tone="primary" disabled data-save>
                {t('save')}
              </Button>
            )}
          </span>
        )}
      </div>
      <Dialogs asked={asked} editing={editing} reset={props.reset} onClose={() => ask(undefined)} />
    </header>
  );
};
