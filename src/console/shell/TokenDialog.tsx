import { type FormEvent, useEffect, useState } from 'react';
import {
  cancelToken,
  clearToken,
  operator,
  saveToken,
  setOperator,
  token,
  tokenActor,
  tokenDialog,
  tokenHint,
} from '../data/session.ts';
import { useAtom } from '../data/use-atom.ts';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { shellTexts } from './texts.ts';
import { toast } from './toasts.ts';

/** What is stored now, as far as it may be shown. */
const StoredToken = ({ value }: { value: string }) => {
  const t = useTexts(shellTexts);
  const [actor, setActor] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    void tokenActor(value).then((found) => {
      if (isCurrent) setActor(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [value]);
  return (
    <p>
      {t('token.stored', { hint: tokenHint(value) })}
      {actor !== undefined && (
        <>
          {' '}
          {t('token.actor')} <code>{actor}</code>
        </>
      )}
    </p>
  );
};

const Form = ({ isRefused }: { isRefused: boolean }) => {
  const t = useTexts(shellTexts);
  const stored = useAtom(token);
  const [entered, setEntered] = useState('');
  const [name, setName] = useState(operator.get());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (entered.trim() === '') return;
    setOperator(name);
    saveToken(entered);
    toast('success', t('token.saved'));
  };
  const clear = (): void => {
    clearToken();
    toast('info', t('token.cleared'));
  };
  return (
    <Dialog title={t(isRefused ? 'token.required' : 'token.set')} onClose={cancelToken}>
      <form onSubmit={submit} style={{ display: 'contents' }}>
        <p>{t(stored !== '' && isRefused ? 'token.rejectedText' : 'token.text')}</p>
        {stored !== '' && <StoredToken value={stored} />}
        <Field label={t('token.label')}>
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="off"
              data-autofocus
              placeholder={t('token.placeholder')}
              value={entered}
              onChange={(event) => setEntered(event.target.value)}
            />
          )}
        </Field>
        <Field label={t('token.operator')} hint={t('token.operatorHint')}>
          {(control) => (
            <input {...control} type="text" value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <DialogActions>
          <Button data-start tone="quiet" onClick={clear}>
            {t('token.clear')}
          </Button>
          <Button onClick={cancelToken}>{t('token.cancel')}</Button>
          <Button type="submit" tone="primary" disabled={entered.trim() === ''}>
            {t('token.save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};

/** Not in the page while nobody is asked. */
export const TokenDialog = () => {
  const asked = useAtom(tokenDialog);
  return asked ? <Form isRefused={asked.reason === 'refused'} /> : null;
};
