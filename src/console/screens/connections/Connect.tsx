import { type FormEvent, useId, useState } from 'react';
import { redactText } from '../../data/redact-text.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { InputField } from '../../design/Inputs.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Notice } from '../../design/Notice.tsx';
import designTexts from '../../design/texts.json' with { type: 'json' };
import { useTexts } from '../../i18n/locale.ts';
import { type Authorization, authorize, startAuthorization } from './connection.ts';
import texts from './texts.json' with { type: 'json' };

/** Connects an account: names the server, shows what will be allowed, and leads to the authorization server. */

const failureOf = (error: unknown): string =>
  redactText(error instanceof Error ? error.message : String(error));

/** Runs one step; a failure is shown and the step can be repeated. */
const useStep = () => {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const step = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await act();
    } catch (error) {
      setFailure(failureOf(error));
    }
    setBusy(false);
  };
  return { busy, failure, step, reset: () => setFailure(undefined) };
};

const Scopes = ({ scopes }: { scopes: readonly string[] }) => {
  const t = useTexts(texts);
  if (scopes.length === 0) return <>{t('scopes.none')}</>;
  return (
    <ul>
      {scopes.map((scope) => (
        <li key={scope}>
          <code>{scope}</code>
        </li>
      ))}
    </ul>
  );
};

/** Shows the requested scopes before the browser opens the authorization server. */
const Start = (props: { server: string; authorization: Authorization; onClose: () => void }) => {
  const t = useTexts(texts);
  const own = useTexts(designTexts);
  const { server, authorization, onClose } = props;
  const { busy, failure, step } = useStep();
  const start = (): Promise<void> =>
    step(async () => location.assign(await startAuthorization(authorization.id)));
  return (
    <>
      <p>{t('connect.leave')}</p>
      <Facts
        rows={[
          [t('column.server'), <code key="server">{server}</code>],
          ...(authorization.issuer === undefined
            ? []
            : [[t('column.issuer'), authorization.issuer] as const]),
          [t('column.scopes'), <Scopes key="scopes" scopes={authorization.scopes} />],
        ]}
      />
      {failure !== undefined && <Notice tone="error" title={failure} />}
      <DialogActions>
        <Button onClick={onClose}>{own('cancel')}</Button>
        <Button data-autofocus tone="primary" icon="external" disabled={busy} onClick={() => void start()}>
          {t('connect.start')}
        </Button>
      </DialogActions>
    </>
  );
};

export const Connect = (props: {
  /** Undefined if the user chooses it. */
  server: string | undefined;
  /** Begun elsewhere, for example by a call that waits. */
  authorization?: Authorization | undefined;
  suggested: readonly string[];
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const own = useTexts(designTexts);
  const { onClose } = props;
  const options = useId();
  const [server, name] = useState(props.server ?? '');
  const [authorization, offer] = useState(props.authorization);
  const { busy, failure, step, reset } = useStep();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (server.trim() !== '' && !busy) void step(async () => offer(await authorize(server.trim())));
  };
  return (
    <Dialog title={t('connect.title')} size={520} onClose={onClose}>
      {authorization ? (
        <Start server={server} authorization={authorization} onClose={onClose} />
      ) : (
        <form onSubmit={submit} className="stack" data-wide>
          <InputField
            label={t('column.server')}
            hint={t('connect.serverHint')}
            error={failure}
            list={options}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            readOnly={props.server !== undefined}
            value={server}
            onChange={(typed) => {
              name(typed);
              reset();
            }}
          />
          <datalist id={options}>
            {props.suggested.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <DialogActions>
            <Button onClick={onClose}>{own('cancel')}</Button>
            <Button type="submit" tone="primary" disabled={server.trim() === '' || busy}>
              {t('connect.next')}
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
};
