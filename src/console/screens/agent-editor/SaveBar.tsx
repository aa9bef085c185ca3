import { useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { unmirrored } from '../audit-log/audit-event.ts';
import css from './AgentEditor.module.css';
import { changedFields } from './draft.ts';
import { dropsOverrides, type Editing } from './editing.ts';
import { texts } from './texts.ts';

/** The state of the draft and the actions on it, always at the bottom of the editor. */
export const SaveBar = (props: {
  editing: Editing;
  dirty: boolean;
  busy: boolean;
  save: () => void;
  validate: () => void;
  onDiscard: () => void;
}) => {
  const t = useTexts(texts);
  const { editing, dirty, busy } = props;
  const [isDiff, showDiff] = useState(false);
  const isUnsaved = dirty || editing.isNew;
  const changed = dirty ? changedFields(editing.start, editing.draft) : [];
  return (
    <div className={css.bar} data-save-bar>
      <p className={css.barText} aria-live="polite">
        <strong data-unsaved={isUnsaved || undefined}>{t(isUnsaved ? 'unsaved' : 'clean')}</strong>
        {changed.length > 0 && !editing.isNew && <span>{changed.join(', ')}</span>}
        {dropsOverrides(editing) && <span>{t('bar.drops')}</span>}
      </p>
      <div className={css.barActions}>
        {dirty && (
          <Button tone="quiet" onClick={props.onDiscard}>
            {t('discard')}
          </Button>
        )}
        {dirty && !editing.isNew && (
          <Button tone="quiet" onClick={() => showDiff(true)}>
            {t('diff')}
          </Button>
        )}
        {isUnsaved && (
          <Button onClick={props.validate} disabled={busy}>
            {t('validate')}
          </Button>
        )}
        <Button tone="primary" onClick={props.save} disabled={busy || !isUnsaved} data-save>
          {t('save')}
        </Button>
      </div>
      {isDiff && (
        <Dialog title={t('diff')} size={860} onClose={() => showDiff(false)}>
          <Diff before={unmirrored(editing.start)} after={unmirrored(editing.draft)} />
          <DialogClose onClose={() => showDiff(false)} />
        </Dialog>
      )}
    </div>
  );
};
