import { type ReactNode, useEffect, useRef } from 'react';
import { Button, buttonLook } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './ConnectModel.module.css';
import type { Item } from './connect.ts';
import texts from './texts.json' with { type: 'json' };

export const useNames = (): ((items: readonly Item[]) => string) => {
  const t = useTexts(texts);
  return (items) => items.map(({ part, id }) => t(`part.${part}`, { id })).join(', ');
};

/** Lists the created entries, and takes the first message to the new agent. */
export const Connected = (props: {
  created: readonly Item[];
  hello: ((agentId: string) => ReactNode) | undefined;
  onAnother: () => void;
}) => {
  const t = useTexts(texts);
  const namesOf = useNames();
  const { created, hello } = props;
  const models = created.filter(({ part }) => part === 'models');
  const agent = created.find(({ part }) => part === 'agents')?.id;
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <>
      <h3 className={css.name} ref={title} tabIndex={-1}>
        {t('done.title', { names: models.map(({ name }) => name).join(', ') })}
      </h3>
      <p className="quiet">{t('created', { names: namesOf(created) })}</p>
      {agent !== undefined && hello?.(agent)}
      <div className="row">
        {!(agent !== undefined && hello) && (
          <ScreenLink
            to={agent === undefined ? '/agents/new' : `/playground?agent=${encodeURIComponent(agent)}`}
            className={buttonLook}
          >
            {t(agent === undefined ? 'toAgent' : 'hello')}
          </ScreenLink>
        )}
        <Button onClick={props.onAnother}>{t('another')}</Button>
      </div>
    </>
  );
};
