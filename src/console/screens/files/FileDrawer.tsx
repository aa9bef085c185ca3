import { useQuery } from '@tanstack/react-query';
import { useResource } from '../../data/queries.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Id } from '../../design/Copy.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Card, Facts } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { DateTime } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './Files.module.css';
import { contentUrl, fileOf, type StoredFile, shownAs } from './file.ts';
import texts from './texts.json' with { type: 'json' };

const readText = async (url: string): Promise<string> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status}`);
  return response.text();
};

const TextPreview = ({ name, url }: { name: string; url: string }) => {
  const query = useQuery({ queryKey: [url], queryFn: () => readText(url) });
  return (
    <Loaded query={query}>
      {(content) => (
        <Scroller label={name} className={css.text}>
          <pre>{content}</pre>
        </Scroller>
      )}
    </Loaded>
  );
};

/** The content comes by the signed link, since elements of a page send no token. */
const Preview = ({ of, link }: { of: StoredFile; link: string }) => {
  const t = useTexts(texts);
  const name = of.filename;
  const url = contentUrl(link, true);
  const shown = shownAs(of);
  if (shown === 'image') return <img className={`media ${css.media}`} src={url} alt={name} />;
  if (shown === 'text') return <TextPreview name={name} url={url} />;
  if (shown === 'audio' || shown === 'video') {
    const Media = shown;
    return (
      <Media className={`media ${css.media}`} src={url} controls aria-label={name}>
        <track kind="captions" />
      </Media>
    );
  }
  if (shown === 'none') return <p className="quiet">{t('preview.none')}</p>;
  return (
    <a className={buttonLook} href={url} target="_blank" rel="noopener noreferrer">
      <Icon name="external" />
      {t('preview.open')}
    </a>
  );
};

const Content = ({ of }: { of: StoredFile }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { id, media_type, bytes, purpose, created_at, expires_at, link } = of;
  return (
    <>
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={id} />],
          [t('column.type'), <code key="type">{media_type}</code>],
          [t('column.size'), t('bytes', { count: format.number(bytes) })],
          [t('column.purpose'), <code key="purpose">{purpose}</code>],
          [t('column.created'), <DateTime key="created" at={created_at} />],
          [
            t('column.expires'),
            expires_at === null ? t('expires.never') : <DateTime key="expires" at={expires_at} />,
          ],
        ]}
      />
      {link !== undefined && (
        <Card
          title={t('preview')}
          actions={
            <a className={buttonLook} href={contentUrl(link, false)} download={of.filename}>
              <Icon name="download" />
              {t('download')}
            </a>
          }
        >
          <Preview of={of} link={link} />
        </Card>
      )}
    </>
  );
};

export const FileDrawer = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const query = useResource(fileOf(id));
  return (
    <Drawer title={query.data?.filename ?? id} onClose={onClose}>
      <Loaded query={query}>{(file) => <Content of={file} />}</Loaded>
    </Drawer>
  );
};
