import { useRouterState } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { isRejected } from '../data/connection.ts';
import { useIdentity } from '../data/identity.ts';
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
import { InputField } from '../design/Inputs.tsx';
import { toast } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import shellTexts from './texts.json' with { type: 'json' };

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

/** Asks the service about an entered token before it is saved. An edit, or another check, cancels a running check. */
const useTokenCheck = () => {
  const [state, setState] = useState<'idle' | 'checking' | 'rejected'>('idle');
  const attempt = useRef(new AbortController());
  useEffect(() => () => attempt.current.abort(), []);
  return {
    isChecking: state === 'checking',
    hasRejected: state === 'rejected',
    cancel: (): void => {
      attempt.current.abort();
      setState('idle');
    },
    /** @returns whether the token can be saved; false too if the check was cancelled or the dialog was closed */
    check: async (entered: string): Promise<boolean> => {
      attempt.current.abort();
      attempt.current = new AbortController();
      const { signal } = attempt.current;
      setState('checking');
      const rejected = await isRejected(entered, signal);
      if (signal.aborted) return false;
      setState(rejected ? 'rejected' : 'idle');
      return !rejected;
    },
  };
};

/** Whether the service offers the sign-in with an identity provider, which most people of a team use. */
const useHasProvider = (): boolean =>
  useIdentity().data?.sign_in.some(({ kind }) => kind === 'oidc') === true;

const SignInButton = () => {
  const t = useTexts(shellTexts);
  const go = useGo();
  const here = useRouterState({ select: ({ location }) => location.href });
  const open = (): void => {
    cancelToken();
    go(`/sign-in?return_to=${encodeURIComponent(here)}`);
  };
  return (
    <p>
      <Button tone="primary" onClick={open}>
        {t('token.signIn')}
      </Button>
    </p>
  );
};

const Form = ({ isRefused }: { isRefused: boolean }) => {
  const t = useTexts(shellTexts);
  const stored = useAtom(token);
  const [entered, setEntered] = useState('');
  const [name, setName] = useState(operator.get());
  /** A name for the audit log is not asked before the first screen. */
  const isFirst = isRefused && stored === '';
  const { isChecking, hasRejected, check, cancel } = useTokenCheck();
  const hasProvider = useHasProvider();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (entered.trim() === '' || isChecking) return;
    if (!(await check(entered.trim()))) return;
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
      <form onSubmit={(event) => void submit(event)} style={{ display: 'contents' }}>
        {hasProvider && <SignInButton />}
        <p>
          {t(stored !== '' && isRefused ? 'token.rejectedText' : hasProvider ? 'token.orText' : 'token.text')}
        </p>
        {stored !== '' && <StoredToken value={stored} />}
        <InputField
          label={t('token.label')}
          error={hasRejected ? t('token.refused') : undefined}
          type="password"
          autoComplete="off"
          data-autofocus
          placeholder={t('token.placeholder')}
          value={entered}
          onChange={(value) => {
            setEntered(value);
            cancel();
          }}
        />
        {!isFirst && (
          <InputField
            label={t('token.operator')}
            hint={t('token.operatorHint')}
            readOnly={isChecking}
            value={name}
            onChange={setName}
          />
        )}
        <DialogActions>
          {stored !== '' && (
            <Button data-start tone="quiet" onClick={clear}>
              {t('token.clear')}
            </Button>
          )}
          <Button onClick={cancelToken}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" disabled={entered.trim() === '' || isChecking}>
            {t('common.save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};

/** Rendered only while the dialog is open. */
export const TokenDialog = () => {
  const asked = useAtom(tokenDialog);
  return asked ? <Form isRefused={asked.reason === 'refused'} /> : null;
};
