import { useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { unmirrored } from '../audit-log/audit-event.ts';
import css from './AgentEditor.module.css';
import { useAgent } from './agent-form.ts';
import { changedFields } from './draft.ts';
import { dropsOverrides } from './editing.ts';
import texts from './texts.json' with { type: 'json' };

/** The state of the draft and the actions on it, always at the bottom of the editor. */
export const SaveBar = ({ save, validate }: { save: () => void; validate: () => void }) => {
  const t = useTexts(texts);
  const { opened, draft, isDirty, busy, reset } = useAgent().form;
  const [isDiff, showDiff] = useState(false);
  const isUnsaved = isDirty || opened.isNew;
  const isChanged = isDirty && !opened.isNew;
  return (
    <div className={css.bar} data-save-bar>
      <p className={css.barText} aria-live="polite">
        <strong data-unsaved={isUnsaved || undefined}>{t(isUnsaved ? 'unsaved' : 'clean')}</strong>
        {isChanged && <span>{changedFields(opened.start, draft).join(', ')}</span>}
        {dropsOverrides(opened) && <span>{t('bar.drops')}</span>}
      </p>
      <div className="row push">
        {isDirty && (
          <Button tone="quiet" onClick={() => reset()}>
            {t('discard')}
          </Button>
        )}
        {isChanged && (
          <Button tone="quiet" onClick={() => showDiff(true)}>
            {t('diff')}
          </Button>
        )}
        {isUnsaved && (
          <Button onClick={validate} disabled={busy}>
            {t('validate')}
          </Button>
        )}
        <Button tone="primary" onClick={save} disabled={busy || !isUnsaved} data-save>
          {t('save')}
        </Button>
      </div>
      {isDiff && (
        <Dialog title={t('diff')} size={860} onClose={() => showDiff(false)}>
          <Diff before={unmirrored(opened.start)} after={unmirrored(draft)} />
          <DialogClose onClose={() => showDiff(false)} />
        </Dialog>
      )}
    </div>
  );
};
