import { useState } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { reasonOf } from '../../data/redact-text.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Notice } from '../../design/Notice.tsx';
import designTexts from '../../design/texts.json' with { type: 'json' };
import { textOf } from '../../entry/entry.ts';
import { useAttempt } from '../../feedback/use-attempt.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
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

const SCHEMA = {
  type: 'object',
  required: ['server'],
  properties: { server: { type: 'string', minLength: 1 } },
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
  const { onClose } = props;
  const [draft, setDraft] = useState<JsonObject>({ server: props.server ?? '' });
  const [authorization, offer] = useState(props.authorization);
  const server = textOf(draft.server).trim();
  if (authorization)
    return (
      <Dialog title={t('connect.title')} size={520} onClose={onClose}>
        <Start server={server} authorization={authorization} onClose={onClose} />
      </Dialog>
    );
  const begin = async (): Promise<ReadonlyMap<string, string>> => {
    try {
      offer(await authorize(server));
      return new Map();
    } catch (error) {
      return new Map([['server', reasonOf(error)]]);
    }
  };
  return (
    <RequestDialog
      title={t('connect.title')}
      submit={t('connect.next')}
      isOff={server === ''}
      schema={SCHEMA}
      ui={{
        server: {
          'ui:title': t('column.server'),
          'ui:description': t('connect.serverHint'),
          'ui:readonly': props.server !== undefined,
          'ui:suggestions': props.suggested,
        },
      }}
      value={draft}
      onChange={setDraft}
      onSubmit={begin}
      onClose={onClose}
    />
  );
};
