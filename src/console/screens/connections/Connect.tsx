import { type FormEvent, useId, useState } from 'react';
import { reasonOf } from '../../data/redact-text.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { InputField } from '../../design/Inputs.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Notice } from '../../design/Notice.tsx';
import designTexts from '../../design/texts.json' with { type: 'json' };
import { useAttempt } from '../../feedback/use-attempt.ts';
import { useTexts } from '../../i18n/locale.ts';
import { type Authorization, authorize, startAuthorization } from './connection.ts';
import texts from './texts.json' with { type: 'json' };

/** Connects an account: names the server, shows what will be allowed, and leads to the authorization server. */

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
  const { isBusy, error, run } = useAttempt();
  const start = (): Promise<void> =>
    run(async () => location.assign(await startAuthorization(authorization.id)));
  return (
    <>
      <p>{t('connect.leave')}</p>
      <Facts
        rows={[
          [t('column.server'), <code key="server">{server}</code>],
          authorization.issuer !== undefined && [t('column.issuer'), authorization.issuer],
          [t('column.scopes'), <Scopes key="scopes" scopes={authorization.scopes} />],
        ]}
      />
      {error !== undefined && <Notice tone="error" title={reasonOf(error)} />}
      <DialogActions>
        <Button onClick={onClose}>{own('cancel')}</Button>
        <Button data-autofocus tone="primary" icon="external" disabled={isBusy} onClick={() => void start()}>
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
  const { isBusy, error, run, stop } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (server.trim() !== '' && !isBusy) void run(async () => offer(await authorize(server.trim())));
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
            error={error === undefined ? undefined : reasonOf(error)}
            list={options}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            readOnly={props.server !== undefined}
            value={server}
            onChange={(typed) => {
              name(typed);
              stop();
            }}
          />
          <datalist id={options}>
            {props.suggested.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <DialogActions>
            <Button onClick={onClose}>{own('cancel')}</Button>
            <Button type="submit" tone="primary" disabled={server.trim() === '' || isBusy}>
              {t('connect.next')}
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
};
