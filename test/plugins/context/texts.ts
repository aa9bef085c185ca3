/** Texts in several languages and forms, to compare token estimates with counts of tokenizers. */
export const TEXTS: Readonly<Record<string, string>> = {
  english: `The harbour was quiet when the last ferry left. Two fishermen repaired their nets under a yellow lamp and talked about the price of diesel, the new regulations from the capital, and whether the storm that the radio had promised would really arrive before Thursday. Nobody noticed the girl who counted the boats and wrote their names into a small notebook.`,
  german: `Als der letzte Zug abgefahren war, blieb der Bahnsteig leer. Die Geschäftsführerin prüfte noch einmal die Unterlagen zur Jahresabschlussprüfung und ärgerte sich über die unvollständigen Reisekostenabrechnungen. Draußen begann es zu regnen, und die Straßenbahnhaltestelle spiegelte sich in den Pfützen. Morgen würde sie die Abteilungsleiter zu einer außerordentlichen Besprechung einladen.`,
  french: `Le boulanger ouvrait sa boutique à cinq heures du matin, bien avant que les premières voitures ne traversent la place. Il préférait ce silence à toutes les fêtes de l'été. Pendant que la pâte levait, il écoutait les nouvelles à la radio et notait sur un carnet les commandes de la journée : douze baguettes pour l'hôtel, une tarte aux pommes pour l'école.`,
  spanish: `La biblioteca del barrio cerraba a las ocho, pero Elena siempre encontraba una excusa para quedarse un poco más. Decía que los libros antiguos necesitaban compañía. Aquella noche descubrió, entre dos enciclopedias, una carta sin firmar que hablaba de un jardín escondido detrás del mercado y de una promesa que nadie había cumplido.`,
  polish: `Stary zegarmistrz prowadził swój zakład przy wąskiej uliczce, której nazwy nie pamiętał już nikt z mieszkańców. Każdego ranka nakręcał wszystkie zegary po kolei, a potem siadał przy oknie i przyglądał się przechodniom. Mówił, że czas płynie inaczej dla tych, którzy nigdzie się nie spieszą, i że żadna sprężyna nie wytrzyma wiecznie.`,
  vietnamese: `Buổi sáng ở chợ nổi bắt đầu từ rất sớm, khi mặt trời còn chưa lên khỏi hàng dừa. Những chiếc thuyền chở đầy trái cây, rau xanh và hoa tươi chen nhau trên dòng sông. Bà cụ bán bún riêu mỉm cười với từng người khách quen và kể cho họ nghe chuyện về con đò cũ của gia đình mình.`,
  russian: `Когда последний трамвай ушёл в депо, город наконец затих. Старый библиотекарь закрыл тяжёлую дверь, проверил, выключен ли свет, и медленно пошёл вдоль набережной. Он думал о книгах, которые вернули сегодня с опозданием, и о письме, на которое так и не решился ответить. Над рекой поднимался туман.`,
  greek: `Το καφενείο του χωριού άνοιγε πριν ξημερώσει. Οι ψαράδες έπιναν τον καφέ τους όρθιοι, μιλούσαν για τον καιρό και έφευγαν γρήγορα προς το λιμάνι. Ο ιδιοκτήτης κρατούσε ένα παλιό τετράδιο με τα χρέη όλων, αλλά δεν ζητούσε ποτέ τα χρήματα πριν από τη γιορτή του καλοκαιριού.`,
  arabic: `كان السوق القديم مزدحماً في ذلك الصباح، وكانت رائحة القهوة والتوابل تملأ الأزقة الضيقة. جلس الخطاط العجوز أمام دكانه الصغير وأخذ يكتب رسالة لامرأة لا تعرف القراءة. كانت تريد أن تخبر ابنها البعيد أن شجرة الليمون قد أثمرت أخيراً، وأن البيت ما زال ينتظر عودته.`,
  hebrew: `בשעה שש בבוקר נפתחה המאפייה הקטנה בפינת הרחוב, וריח הלחם הטרי מילא את כל השכונה. הזקן שגר מעל החנות ירד לאט במדרגות, קנה שתי לחמניות וישב על הספסל מול הים. הוא סיפר לילדים על העיר כפי שהייתה פעם, לפני שנבנו המגדלים הגבוהים.`,
  hindi: `सुबह की पहली बस के आने से पहले ही चाय की दुकान खुल जाती थी। बूढ़ा दुकानदार हर ग्राहक का नाम जानता था और सबसे उनके परिवार का हाल पूछता था। उस दिन बारिश बहुत तेज़ थी, इसलिए लोग छत के नीचे खड़े होकर पुराने समय की कहानियाँ सुनते रहे और कोई भी जल्दी में नहीं था।`,
  thai: `ตลาดริมน้ำเปิดตั้งแต่เช้ามืด เรือลำเล็กบรรทุกผลไม้และดอกไม้สดลอยเข้ามาช้าๆ คุณยายที่ขายขนมครกจำชื่อลูกค้าได้ทุกคน และมักจะเล่าเรื่องเมืองเก่าก่อนที่ถนนใหญ่จะตัดผ่านให้เด็กๆ ฟังเสมอ`,
  chinese: `清晨五点，老街的豆浆店已经开了门。老板一边磨豆子，一边跟早起的邻居聊天，说起昨天夜里的大雨和桥头那棵被风吹倒的槐树。一个背着书包的男孩坐在角落里，认真地读着一封从远方寄来的信。信上说，哥哥今年春节一定会回家，还会带来一台能拍星空的相机。`,
  traditional: `港口的燈塔已經有一百二十年的歷史，守燈人每天傍晚都會沿著螺旋樓梯走到塔頂，擦拭巨大的透鏡，記錄風向與氣溫。他常對遊客說，真正困難的不是孤獨，而是如何在漫長的冬夜裡保持專注。去年颱風來臨的時候，他連續三天沒有離開工作室。`,
  technicalChinese: `为了降低延迟，我们把缓存层从单机 Redis 迁移到了集群模式，并在客户端增加了重试与熔断机制。测试结果表明，在每秒两万次请求的负载下，第九十九百分位的响应时间从八十毫秒下降到三十毫秒。下一步需要检查日志采样率以及数据库连接池的配置是否合理。`,
  japanese: `駅前の小さな喫茶店は、朝の七時に開く。店主は毎日同じ時間に豆を挽き、窓際の席に新聞を並べる。常連の老人は砂糖を二つ入れたコーヒーを飲みながら、昔この町に路面電車が走っていたころの話をしてくれた。外では雨が静かに降り始め、学生たちが傘をさして急いで通り過ぎていった。`,
  kana: `このアプリケーションでは、ユーザーがファイルをアップロードすると、サーバーがすぐにデータをチェックします。エラーがあるときは、メッセージをよんで、もういちどやりなおしてください。わからないことがあれば、サポートチームまでおきがるにおといあわせください。`,
  korean: `골목 끝에 있는 작은 서점은 늦은 밤까지 불이 켜져 있었다. 주인은 손님이 없어도 책장을 정리하며 라디오를 들었다. 비가 오는 날이면 길을 잃은 여행자들이 가끔 들어와 지도를 펼쳐 놓고 한참을 이야기하다가, 따뜻한 차 한 잔을 마시고 다시 떠나곤 했다. 그는 그들의 이름을 공책에 적어 두었다.`,
  code: `export async function loadPages(source: PageSource, { limit = 50, signal }: LoadOptions = {}): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const response = await source.fetch({ cursor, limit, signal });
    if (!response.ok) throw new PageError(\`status \${response.status} for page \${pages.length}\`);
    for (const item of response.items) {
      pages.push({ id: item.id, title: item.title ?? '', updatedAt: new Date(item.updated_at) });
    }
    cursor = response.nextCursor;
  } while (cursor !== undefined && pages.length < limit);
  return pages.sort((a, b) => a.updatedAt.getTime() - b.updatedAt.getTime());
}
`,
  python: `def moving_average(values, window=7):
    """Return the mean of each full window of values."""
    if window <= 0:
        raise ValueError("window must be positive")
    total = 0.0
    result = []
    for index, value in enumerate(values):
        total += value
        if index >= window:
            total -= values[index - window]
        if index >= window - 1:
            result.append(total / window)
    return result
`,
  json: `{"orders":[{"id":"ord_48213","customer":{"name":"Marta Lindqvist","email":"marta@example.org"},"items":[{"sku":"LMP-2201","quantity":2,"unit_price":39.95},{"sku":"CBL-0045","quantity":1,"unit_price":7.5}],"paid":true,"created_at":"2026-03-14T09:26:53Z"},{"id":"ord_48214","customer":null,"items":[],"paid":false,"created_at":"2026-03-14T09:31:02Z"}],"next_cursor":null,"total":2}`,
  indented: `{
  "name": "telemetry",
  "version": "3.2.1",
  "settings": {
    "interval_seconds": 30,
    "targets": ["alpha", "beta"],
    "retry": { "attempts": 5, "backoff_ms": 250 }
  },
  "enabled": true
}`,
  base64: Buffer.from(Array.from({ length: 450 }, (_, n) => (n * n * 31 + n * 17 + 7) % 251)).toString(
    'base64',
  ),
  hex: Array.from({ length: 40 }, (_, n) => ((n * 2654435761) >>> 0).toString(16).padStart(8, '0')).join(''),
  uuids: Array.from(
    { length: 8 },
    (_, n) =>
      `${(((n + 3) * 2654435761) % 4294967296).toString(16).padStart(8, '0')}-4f2a-4c1b-9d3e-a1b2c3d4e5f6`,
  ).join('\n'),
  numbers: Array.from({ length: 60 }, (_, n) => (n * 7919.37).toFixed(2)).join(', '),
  markdown: `## Results

| Region | Orders | Revenue |
|---|---:|---:|
| North | 1,204 | $48,310.20 |
| South | 987 | $39,870.00 |

- **North** grew by 12 % since *last* quarter.
- See [the report](https://example.com/reports/2026/q1?lang=en#summary) for details.
`,
  log: `2026-03-14T09:26:53.412Z INFO  http.server request completed method=GET path=/v1/threads/6f1c status=200 duration_ms=12.4
2026-03-14T09:26:53.977Z WARN  store.committer batch is slow records=412 bytes=91822 waited_ms=48
2026-03-14T09:26:54.102Z ERROR models.provider request failed provider=openai status=503 attempt=2
`,
  emoji: `Great work 🎉🎉 — see you tomorrow 👋🏽 at the beach 🏖️! Bring 🍉🍓, sunscreen 🧴 and the dogs 🐕🐩. 💙💚💛`,
};
