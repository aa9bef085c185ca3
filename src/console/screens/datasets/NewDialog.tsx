import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { ID } from '../../entry/entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../shell/links.tsx';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './Datasets.module.css';
import { texts } from './texts.ts';
import { changedDatasets } from './write.ts';

export const NewDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const [id, setId] = useState('');
  const [description, setDescription] = useState('');
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    const wrong = id === '' ? t('problem.required') : ID.test(id) ? undefined : t('problem.id');
    setError(wrong);
    if (wrong !== undefined) return;
    setBusy(true);
    try {
      const body = { id, spec: { description, fixtures: [] } };
      await send({ method: 'POST', path: '/v1/eval/datasets', body }, anything);
      toast('success', t('created', { id }));
      changedDatasets();
      go(`/datasets/${encodeURIComponent(id)}`);
    } catch (failure) {
      if (statusOf(failure) === 409 && failure instanceof Error) setError(failure.message);
      else toastError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('new.title')} onClose={onClose}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field label={t('new.id')} error={error} required>
          {(control) => (
            <input
              {...control}
              data-autofocus
              type="text"
              value={id}
              onChange={({ target }) => {
                setId(target.value);
                setError(undefined);
              }}
            />
          )}
        </Field>
        <Field label={t('new.description')}>
          {(control) => (
            <input
              {...control}
              type="text"
              value={description}
              onChange={({ target }) => setDescription(target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" tone="primary" disabled={busy}>
            {t('new.create')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
