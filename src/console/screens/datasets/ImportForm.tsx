import { type ReactNode, useState } from 'react';
import type { Guard } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Field } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './Datasets.module.css';
import { texts } from './texts.ts';
import { changedDatasets } from './write.ts';

type Props<T> = {
  title: string;
  dataset: string;
  /** Of the dataset that is looked at: a change of somebody else is not written over. */
  revision: number;
  from: 'import-traces' | 'import-dialogue';
  /** What is asked for, besides the phrase. */
  body: object;
  isReady: boolean;
  guard: Guard<T>;
  said: (answer: T) => string;
  onClose: () => void;
  children: ReactNode;
};

/** What was said becomes test cases of a dataset, whose answers must have a phrase. */
export const ImportForm = <T,>(props: Props<T>) => {
  const t = useTexts(texts);
  const [phrase, setPhrase] = useState('');
  const [busy, setBusy] = useState(false);
  const load = async (): Promise<void> => {
    setBusy(true);
    try {
      const body = {
        expected_revision: props.revision,
        ...props.body,
        expected: { final_answer_contains: [phrase] },
      };
      const path = `${pathOf`/v1/eval/datasets/${props.dataset}`}/${props.from}`;
      toast('success', props.said(await send({ method: 'POST', path, body }, props.guard)));
      changedDatasets();
      props.onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void load();
        }}
      >
        {props.children}
        <Field label={t('traces.phrase')} required>
          {(control) => (
            <input
              {...control}
              type="text"
              value={phrase}
              onChange={({ target }) => setPhrase(target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={props.onClose}>{t('cancel')}</Button>
          <Button type="submit" tone="primary" disabled={busy || !props.isReady || phrase.trim() === ''}>
            {t('import')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
