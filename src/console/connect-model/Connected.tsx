import { type ReactNode, useEffect, useRef } from 'react';
import { Button, buttonLook } from '../design/Button.tsx';
import shared from '../entry/Entry.module.css';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './ConnectModel.module.css';
import { texts } from './texts.ts';

export type ConnectedModel = {
  upstream: string;
  model: string;
  agent: string | undefined;
  /** The created entries, for the user. */
  created: readonly string[];
};

/** Lists the created entries, and takes the first message to the new agent. */
export const Connected = (props: {
  connected: ConnectedModel;
  hello: ((agentId: string) => ReactNode) | undefined;
  onAnother: () => void;
}) => {
  const t = useTexts(texts);
  const { hello } = props;
  const { upstream, agent, created } = props.connected;
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <div className={css.panel}>
      <h3 className={css.name} ref={title} tabIndex={-1}>
        {t('done.title', { model: upstream })}
      </h3>
      <p className={css.status} data-tone="ok">
        {t('done.text', { created: created.join(', ') })}
      </p>
      {agent !== undefined && hello?.(agent)}
      <div className={shared.row}>
        {agent !== undefined && !hello && (
          <ScreenLink to={`/playground?agent=${encodeURIComponent(agent)}`} className={buttonLook}>
            {t('hello')}
          </ScreenLink>
        )}
        {agent === undefined && (
          <ScreenLink to="/agents/new" className={buttonLook}>
            {t('toAgent')}
          </ScreenLink>
        )}
        <Button onClick={props.onAnother}>{t('another')}</Button>
      </div>
    </div>
  );
};
