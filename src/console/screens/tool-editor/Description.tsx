import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { changed } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { useWrite } from '../../data/use-write.ts';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import { UnsavedGuard } from '../../shell/UnsavedGuard.tsx';
import css from './ToolEditor.module.css';
import { texts } from './texts.ts';
import { bytesOf, LONG, MOST_BYTES } from './tool.ts';

/** What models are told of a built-in tool in place of what it says of itself. */
export const Description = (props: { id: string; effective: string; isCustomized: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { id, effective, isCustomized } = props;
  const [typed, type] = useState(effective);
  const [from, setFrom] = useState(effective);
  const [busy, setBusy] = useState(false);
  const [isRefused, refuse] = useState(false);
  const write = useWrite();
  const path = pathOf`/v1/config/tools/${id}/overrides`;
  const bytes = bytesOf(typed);
  const isOver = bytes > MOST_BYTES;
  const isDirty = typed !== from;
  const numbers = { bytes: format.number(bytes), most: format.number(MOST_BYTES) };
  const error = isOver ? t('bytes.over', numbers) : isRefused && typed.trim() === '' ? t('empty') : undefined;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await work().catch(toastError);
    setBusy(false);
  };
  const save = async (): Promise<void> => {
    refuse(true);
    if (typed.trim() === '' || isOver) return;
    await attempt(async () => {
      const body = { description: typed };
      const what = { namespace: 'tools', entity: 'entity.tool', id, done: 'saved' } as const;
      await write.mutateAsync({ method: 'PATCH', path, body, ...what });
      setFrom(typed);
    });
  };
  const revert = (): Promise<void> =>
    attempt(async () => {
      await send({ method: 'DELETE', path }, anything);
      changed('tools');
      toast('success', t('reverted', { id }));
    });
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label={t('override.label')} hint={t('override.hint')} error={error}>
        {(control) => (
          <textarea {...control} rows={6} value={typed} onChange={({ target }) => type(target.value)} />
        )}
      </Field>
      <span className={css.count} data-over={isOver || undefined}>
        {t('bytes', numbers)}
        {typed.length >= LONG && !isOver && ` · ${t('long')}`}
      </span>
      <div className={css.buttons}>
        <Button type="submit" tone="primary" disabled={busy || !isDirty || isOver} data-save>
          {t('save')}
        </Button>
        {isCustomized && (
          <Button disabled={busy} onClick={() => void revert()}>
            {t('revert')}
          </Button>
        )}
      </div>
      <UnsavedGuard isDirty={isDirty} />
    </form>
  );
};
