import { useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Diff } from '../../design/Diff.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { unmirrored } from '../audit-log/audit-event.ts';
import css from './AgentEditor.module.css';
import { changedFields } from './draft.ts';
import { dropsOverrides, type Editing, isPatched } from './editing.ts';
import { texts } from './texts.ts';
import type { Saving } from './use-saving.ts';

/** What is not saved yet, and what can be done about it. */
export const SaveBar = (props: {
  editing: Editing;
  saving: Saving;
  localKind: string;
  save: () => void;
  validate: () => void;
  onDiscard: () => void;
}) => {
  const t = useTexts(texts);
  const { editing, saving } = props;
  const [isDiff, showDiff] = useState(false);
  const changed = changedFields(editing.start, editing.draft);
  return (
    <div className={css.bar} data-save-bar>
      <p className={css.barText} aria-live="polite">
        {editing.isNew
          ? t('bar.new')
          : t(isPatched(editing) ? 'bar.patch' : 'bar.put', {
              count: changed.length,
              fields: changed.join(', '),
            })}
        {dropsOverrides(editing) && <strong> {t('bar.drops')}</strong>}
      </p>
      <div className={css.barActions}>
        {!editing.isNew && (
          <>
            <Button tone="quiet" onClick={props.onDiscard}>
              {t('discard')}
            </Button>
            <Button onClick={() => showDiff(true)}>{t('diff')}</Button>
          </>
        )}
        <Button onClick={props.validate} disabled={saving.busy}>
          {t('validate')}
        </Button>
        <Button tone="primary" onClick={props.save} disabled={saving.busy} data-save>
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
