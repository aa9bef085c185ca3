import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { changed } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { toast, toastError } from '../../feedback/toasts.ts';
import { useWrite } from '../../feedback/use-write.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { UnsavedGuard } from '../../navigation/UnsavedGuard.tsx';
import css from './Tools.module.css';
import texts from './texts.json' with { type: 'json' };
import { bytesOf, LONG, MOST_BYTES } from './tool.ts';

/**
 * Overrides the description of a built-in tool that models receive.
 * @param original the description without the override; undefined if there is none
 */
export const Description = (props: { id: string; effective: string; original: unknown }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { id, effective, original } = props;
  const [typed, type] = useState(effective);
  const [from, setFrom] = useState(effective);
  const [isReverting, setReverting] = useState(false);
  const write = useWrite();
  const path = pathOf`/v1/config/tools/${id}/overrides`;
  const bytes = bytesOf(typed);
  const isOver = bytes > MOST_BYTES;
  const isDirty = typed !== from;
  const isBusy = write.isPending || isReverting;
  const numbers = { bytes: format.number(bytes), most: format.number(MOST_BYTES) };
  const error = isOver ? t('bytes.over', numbers) : isDirty && typed.trim() === '' ? t('empty') : undefined;
  const save = (): void => {
    const what = { namespace: 'tools', entity: 'entity.tool', id, done: 'saved' } as const;
    write.mutate(
      { method: 'PATCH', path, body: { description: typed }, ...what },
      { onSuccess: () => setFrom(typed) },
    );
  };
  const revert = async (): Promise<void> => {
    setReverting(true);
    try {
      await send({ method: 'DELETE', path }, anything);
      changed('tools');
      toast('success', t('reverted', { id }));
    } catch (failure) {
      toastError(failure);
    }
    setReverting(false);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isDirty && error === undefined) save();
      }}
    >
      <Field label={t('override.label')} hint={t('override.hint')} error={error}>
        {(control) => (
          <textarea {...control} rows={4} value={typed} onChange={({ target }) => type(target.value)} />
        )}
      </Field>
      <div className="row end">
        <span className="quiet grow">
          {t('bytes', numbers)}
          {typed.length >= LONG && !isOver && ` · ${t('long')}`}
        </span>
        {typeof original === 'string' && (
          <Button disabled={isBusy} title={original} onClick={() => void revert()}>
            {t('revert')}
          </Button>
        )}
        <Button type="submit" tone="primary" disabled={isBusy || !isDirty || error !== undefined} data-save>
          {t('save')}
        </Button>
      </div>
      {typeof original === 'string' && (
        <details open>
          <summary>{t('original')}</summary>
          <p className={css.text}>{original}</p>
        </details>
      )}
      <UnsavedGuard isDirty={isDirty} />
    </form>
  );
};
