import { useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { pathOf } from '../../data/request.ts';
import { buttonLook } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { Icon } from '../../design/Icon.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { EntryMenu } from '../../entry/EntryMenu.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import css from './AgentEditor.module.css';
import { AGENT, useAgent } from './agent-form.ts';
import { sourceOf } from './editing.ts';
import texts from './texts.json' with { type: 'json' };

/** The name of the agent, its source, and a menu of further actions. */

const More = ({ onReset }: { onReset: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const { opened } = useAgent().form;
  const { id } = opened.start;
  const source = sourceOf(opened);
  const save = (): void =>
    download(`${id}.json`, 'application/json', JSON.stringify(redact(opened.start), null, 2));
  return (
    <EntryMenu
      kind={AGENT}
      id={id}
      note={source === 'user' ? undefined : t('delete.builtin')}
      onDeleted={() => go('/agents')}
      items={[
        { label: t('duplicate'), icon: 'duplicate', act: `/agents/new?from=${encodeURIComponent(id)}` },
        { label: t('export'), icon: 'download', act: save },
        ...(source === 'customized'
          ? [{ label: t('resetAll'), icon: 'history', act: onReset } as const]
          : []),
      ]}
    />
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

export const Header = () => {
  const t = useTexts(texts);
  const { form } = useAgent();
  const { isNew, start } = form.opened;
  const { id } = start;
  const [isResetting, reset] = useState(false);
  return (
    <header>
      <BackLink />
      <div className={css.title}>
        <h1 title={id}>{isNew ? t('title.new') : t('title', { id })}</h1>
        {!isNew && (
          <>
            <SourceChip state={sourceOf(form.opened)} />
            <span className="row push">
              <ScreenLink to={`/agents/${encodeURIComponent(id)}/dashboard`} className={buttonLook}>
                <Icon name="dashboard" />
                {t('stats')}
              </ScreenLink>
              <More onReset={() => reset(true)} />
            </span>
          </>
        )}
      </div>
      {isResetting && (
        <ConfirmDialog
          title={t('reset.title', { id })}
          confirm={t('resetAll')}
          onConfirm={() => {
            reset(false);
            void form.write({ method: 'DELETE', path: pathOf`/v1/config/agents/${id}/overrides` }, true);
          }}
          onClose={() => reset(false)}
        >
          <p>{t('reset.text')}</p>
        </ConfirmDialog>
      )}
    </header>
  );
};
