import { isObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import { Chip } from '../design/Chip.tsx';
import { Json } from '../design/Json.tsx';
import { Facts } from '../design/Layout.tsx';
import { Notice } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { factsOf, type RemoteStatus, refusedHostIn } from './status.ts';
import texts from './texts.json' with { type: 'json' };

/** The agent card of a remote service. */

const Words = ({ words }: { words: readonly string[] }) =>
  words.length === 0 ? (
    <>—</>
  ) : (
    <span className="row">
      {words.map((word) => (
        <Chip key={word}>{word}</Chip>
      ))}
    </span>
  );

export const AgentCard = ({ server, status }: { server: string; status: RemoteStatus }) => {
  const t = useTexts(texts);
  const card = isObject(status.card) ? status.card : undefined;
  const refused = refusedHostIn(status);
  if (!card && refused !== undefined)
    return (
      <Notice tone="warn" title={t('refused', { host: refused })}>
        {t('refused.text', { setting: 'SERVICE_A2A_REMOTE_URL' })}
      </Notice>
    );
  if (!card)
    return (
      <Notice tone="error" title={t('unreachable')}>
        {status.last_error && redactText(status.last_error)}
      </Notice>
    );
  const facts = factsOf(card);
  return (
    <div className="stack">
      <Facts
        rows={[
          ...(['name', 'version', 'description'] as const).map((key) => [t(key), facts[key] ?? '—'] as const),
          [
            t('server'),
            <ScreenLink key="server" to={`/a2a-servers?server=${encodeURIComponent(server)}`}>
              {server}
            </ScreenLink>,
          ],
          [
            t('skills'),
            <ul key="skills" className="stack">
              {facts.skills.map((skill) => (
                <li key={skill.name}>
                  <strong>{skill.name}</strong> <Words words={skill.tags} />
                  {skill.description && <div className="quiet">{skill.description}</div>}
                </li>
              ))}
            </ul>,
          ],
          ...(['interfaces', 'modes', 'capabilities'] as const).map(
            (key) => [t(key), <Words key={key} words={facts[key]} />] as const,
          ),
          [t('auth'), facts.auth.length === 0 ? t('auth.none') : <Words key="auth" words={facts.auth} />],
        ]}
      />
      <Json value={card} label={t('card')} />
    </div>
  );
};
