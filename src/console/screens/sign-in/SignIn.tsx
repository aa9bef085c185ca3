import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useIdentity } from '../../data/identity.ts';
import type { Identity } from '../../data/principal.ts';
import { redactText } from '../../data/redact-text.ts';
import { backendUrl } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { InputField } from '../../design/Inputs.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import mark from '../../mark.svg';
import { useGo } from '../../navigation/links.tsx';
import css from './SignIn.module.css';
import {
  beginSignIn,
  errorOf,
  exchangeCode,
  hasCode,
  NotRecognized,
  ownPath,
  signInWith,
  takeCode,
  waysOf,
} from './sign-in.ts';
import texts from './texts.json' with { type: 'json' };

const messageOf = (error: unknown): string =>
  redactText(error instanceof Error ? error.message : String(error));

/** Opens an address of the console, or a route of the service that continues after the sign-in. */
const useLeave = (): ((to: string) => void) => {
  const go = useGo();
  return (to) => (to.startsWith('/v1/') ? location.assign(to) : go(to));
};

/** The code of the callback, which is exchanged once. It is taken after the first render, which React may repeat. */
const useCode = (leave: (to: string) => void): { isWorking: boolean; failure: string | undefined } => {
  const t = useTexts(texts);
  const [isWorking, work] = useState(hasCode);
  const [failure, setFailure] = useState<string>();
  const end = useRef({ leave, t });
  end.current = { leave, t };
  useEffect(() => {
    const taken = takeCode();
    if (taken === undefined) return;
    const fail = (text: string): void => {
      work(false);
      setFailure(text);
    };
    const { code, verifier, returnTo } = taken;
    if (verifier === undefined) return fail(end.current.t('error.mismatch'));
    exchangeCode(code, verifier).then(
      () => end.current.leave(ownPath(returnTo, location.origin)),
      (error) => fail(end.current.t('error.code', { reason: messageOf(error) })),
    );
  }, []);
  return { isWorking, failure };
};

const Providers = ({ who, returnTo }: { who: Identity | undefined; returnTo: string }) => {
  const t = useTexts(texts);
  const how = waysOf(location, backendUrl());
  const providers = who?.sign_in.filter(({ kind }) => kind === 'oidc') ?? [];
  if (providers.length === 0) return null;
  if (how === 'none') return <Notice title={t('insecure')} />;
  return (
    <>
      {providers.map((way) => {
        const open = (): void => {
          const to = beginSignIn(way, how, returnTo);
          if (to !== undefined) location.assign(to);
        };
        return (
          <Button key={way.id ?? way.url} tone="primary" onClick={open}>
            {t('with', { label: way.label ?? way.id ?? '' })}
          </Button>
        );
      })}
      <p className={css.or}>{t('common.or')}</p>
    </>
  );
};

const CredentialForm = ({ onDone, isMain }: { onDone: () => void; isMain: boolean }) => {
  const t = useTexts(texts);
  const how = waysOf(location, backendUrl());
  const [entered, enter] = useState('');
  const [failure, fail] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (entered.trim() === '' || busy) return;
    setBusy(true);
    try {
      await signInWith(entered.trim(), how);
      onDone();
    } catch (error) {
      fail(error instanceof NotRecognized ? t('unknown') : t('rejected', { reason: messageOf(error) }));
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <InputField
        label={t('credential')}
        hint={t(how === 'cookie' ? 'credentialHint.cookie' : 'credentialHint.header')}
        error={failure}
        type="password"
        autoComplete="off"
        value={entered}
        onChange={(value) => {
          enter(value);
          fail(undefined);
        }}
      />
      <Button type="submit" tone={isMain ? 'primary' : undefined} disabled={entered.trim() === '' || busy}>
        {t('submit')}
      </Button>
    </form>
  );
};

const Failed = ({ text }: { text: string }) => {
  const t = useTexts(texts);
  return (
    <Notice tone="error" title={t('error.title')}>
      {text}
    </Notice>
  );
};

const Ways = (props: { who: Identity | undefined; returnTo: string; leave: () => void }) => {
  const { who, returnTo, leave } = props;
  const t = useTexts(texts);
  const [isAnother, another] = useState(false);
  if (who?.authenticated && who.user !== undefined && !isAnother) {
    return (
      <>
        <p>{t('signedIn', { user: who.name ?? who.user })}</p>
        <Button tone="primary" onClick={leave}>
          {t('continue')}
        </Button>
        <Button onClick={() => another(true)}>{t('another')}</Button>
      </>
    );
  }
  return (
    <>
      <Providers who={who} returnTo={returnTo} />
      <CredentialForm onDone={leave} isMain={!who?.sign_in.some(({ kind }) => kind === 'oidc')} />
    </>
  );
};

export default function SignIn() {
  const t = useTexts(texts);
  const [query] = useQueryState();
  const leave = useLeave();
  const code = useCode(leave);
  const { data: who, isPending } = useIdentity();
  const returnTo = ownPath(query.return_to, location.origin);
  const known = errorOf(query.error);
  const failure = code.failure ?? (query.error && t(known ? `error.${known}` : 'error.other'));
  return (
    <div className={css.page}>
      <section className={css.card} aria-label={t('title')}>
        <header className={`stack ${css.head}`}>
          <img src={mark} alt="" />
          <h1 style={{ fontSize: 20 }}>{t('title')}</h1>
          <p className="quiet">{t('purpose', { host: new URL(backendUrl()).host })}</p>
        </header>
        {failure && <Failed text={failure} />}
        {code.isWorking ? (
          <p role="status">{t('working')}</p>
        ) : isPending ? (
          <SkeletonRows rows={2} />
        ) : (
          <Ways who={who} returnTo={returnTo} leave={() => leave(returnTo)} />
        )}
      </section>
    </div>
  );
}
