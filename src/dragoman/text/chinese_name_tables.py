"""Names of people in Chinese characters, and how English writes them."""

from __future__ import annotations

#: Names from other languages: the usual form, others after a slash, and how simplified characters write it.
FOREIGN = """
Aaron 亚伦 阿伦; Abe 安倍; Abraham 亚伯拉罕; Adam 亚当; Adrian 阿德里安; Agnes 艾格尼丝 阿格尼丝;
Ahmed/Ahmad 艾哈迈德; Aisha 阿伊莎; Alan/Allan/Allen/Alain 艾伦; Albert 艾伯特 阿尔伯特; Alex 亚历克斯 艾力克斯;
Alexander/Alexandre 亚历山大; Alexandra 亚历山德拉; Alfred 阿尔弗雷德; Ali 阿里; Alice 爱丽丝 艾丽丝 艾莉丝;
Alicia 艾丽西亚; Amanda 阿曼达; Amelia 阿米莉亚; Amy 艾米; Anderson 安德森; Andrea 安德里亚 安德莉亚;
Andrew 安德鲁; Andy 安迪; Angela 安吉拉 安琪拉; Anita 安妮塔; Ann/Anne/Annie 安妮; Anna 安娜;
Anthony/Antony 安东尼; Antonio 安东尼奥; Armstrong 阿姆斯特朗; Arnold 阿诺德; Arthur 亚瑟 阿瑟;
Ashley 阿什利 艾希莉; Audrey 奥黛丽; Bach 巴赫; Baker 贝克; Barbara 芭芭拉 巴巴拉; Beatrice 贝翠丝 比阿特丽斯;
Beckham 贝克汉姆; Beethoven 贝多芬; Bell 贝尔; Ben 班恩; Benjamin 本杰明 班杰明; Bernard 伯纳德; Betty 贝蒂;
Biden 拜登; Bill 比尔; Billy 比利; Bloomberg 彭博; Bob/Bobby 鲍勃 鲍伯; Boris 鲍里斯; Brenda 布兰达 布伦达;
Brian/Bryan 布莱恩 布赖恩; Brown 布朗; Bruce Lee 李小龙; Bruce 布鲁斯; Bush 布什; Carl/Karl 卡尔; Carla 卡拉;
Carlos 卡洛斯; Carmen 卡门; Carol 卡罗尔; Caroline 卡罗琳 卡洛琳; Catherine/Katherine/Kathryn 凯瑟琳 凯萨琳;
Cathy/Kathy 凯西; Cecilia 塞西莉亚; Chaplin 卓别林; Charles 查尔斯; Charlie/Charley 查理; Charlotte 夏洛特;
Chiang Kai-shek 蒋介石; Chloe 克洛伊; Chopin 肖邦 萧邦; Chris 克里斯; Christian 克里斯蒂安;
Christina 克里斯蒂娜 克莉丝汀娜; Christine 克里斯汀 克莉丝汀; Christopher 克里斯托弗; Churchill 丘吉尔;
Cindy 辛迪 辛蒂; Claire/Clare 克莱尔; Clara/Klara 克拉拉; Claude 克劳德; Claudia 克劳迪娅; Clinton 克林顿;
Columbus 哥伦布; Confucius 孔子; Cynthia 辛西娅 辛希亚; Daisy 黛西; Daniel 丹尼尔; Danny 丹尼; Darwin 达尔文;
David 大卫 戴维; Davis 戴维斯; Debbie 黛比; Deborah 黛博拉; Dennis 丹尼斯; Descartes 笛卡尔; Diana 戴安娜 黛安娜;
Dick 迪克; Dickens 狄更斯; Dmitri 德米特里; Donald 唐纳德; Donna 唐娜; Dora 朵拉; Dorothy 多萝西 桃乐丝;
Douglas 道格拉斯; Eddie 埃迪; Edison 爱迪生; Edward/Eduard 爱德华; Einstein 爱因斯坦; Eleanor 埃莉诺;
Elena 埃琳娜 叶莲娜; Elizabeth/Elisabeth 伊丽莎白 伊莉莎白; Ella 艾拉; Ellen 埃伦; Emily 艾米丽 艾米莉 爱米丽;
Emma 艾玛 爱玛; Eric/Erik 埃里克 艾瑞克 埃瑞克; Ernest 欧内斯特; Esther 埃丝特 以斯帖; Eva 伊娃; Evans 埃文斯;
Eve 夏娃; Evelyn 伊芙琳; Fatima 法蒂玛; Federer 费德勒; Felix 菲利克斯; Fernando 费尔南多; Fiona 菲奥娜;
Florence 弗洛伦斯; Ford 福特; Francis 弗朗西斯; Frank 弗兰克 法兰克; Fred 弗雷德; Freddie/Freddy 弗雷迪;
Frederick 弗雷德里克; Freud 弗洛伊德; Friedrich 弗里德里希; Fujiwara 藤原; Galileo 伽利略; Gandhi 甘地;
Garcia/García 加西亚; Gary 加里 盖瑞; Gates 盖茨; George/Georg/Georges 乔治; Gina 吉娜; Gloria 格洛丽亚;
Goethe 歌德; Gonzalez/González 冈萨雷斯; Grace 格蕾丝 葛瑞丝; Green 格林; Greg 格雷格; Hannah/Hanna 汉娜;
Hans 汉斯; Harold 哈罗德; Harry 哈利 哈里; Hassan 哈桑; Heidi 海蒂; Heinrich 海因里希; Helen 海伦; Helena 海伦娜;
Hemingway 海明威; Henry/Henri 亨利; Hitler 希特勒; Ho Chi Minh 胡志明; Holmes 福尔摩斯; Howard 霍华德; Hugo 雨果;
Ian 伊恩; Igor 伊戈尔; Ilya 伊利亚; Irene 艾琳; Isaac 艾萨克; Isabel/Isabelle 伊莎贝尔; Isabella 伊莎贝拉;
Ito/Itō 伊藤; Ivan 伊万 伊凡; Jack 杰克; Jackie 杰基; Jackson 杰克逊; Jacob/Jakob 雅各布 雅各; Jacques 雅克;
James 詹姆斯 詹姆士; Janet 珍妮特; Jason 杰森 贾森; Javier 哈维尔; Jay Chou 周杰伦; Jeff 杰夫; Jeffrey 杰弗里;
Jennifer 珍妮弗 珍妮佛 詹妮弗; Jenny 珍妮 詹妮; Jeremy 杰里米; Jerry 杰瑞 杰里; Jessica 杰西卡 洁西卡; Jesus 耶稣;
Jill 吉尔; Jim 吉姆; Jimmy 吉米; Joanna 乔安娜; Jobs 乔布斯; Joel 乔尔; John/Johann 约翰; Johnny 约翰尼 强尼;
Johnson 约翰逊; Jonathan 乔纳森 乔纳生; Jones 琼斯; Jordan 乔丹; Jose/José 何塞; Joseph/Josef 约瑟夫;
Joshua 约书亚 乔舒亚; Juan 胡安; Judy 朱迪 茱迪; Julia 朱莉娅 茱莉亚 朱莉亚; Julian/Julien 朱利安; Julie 朱莉 茱莉;
Juliet/Juliette 朱丽叶; Justin 贾斯汀 贾斯丁; Karen 凯伦 卡伦; Kate 凯特; Katie 凯蒂; Kato/Katō 加藤; Keith 基思;
Kelly 凯莉; Ken 肯恩; Kennedy 肯尼迪; Kenneth 肯尼斯; Kevin 凯文; Kim 金姆; Kimura 木村; Klaus/Claus 克劳斯;
Larry 拉里 赖瑞; Laura 劳拉 萝拉; Lauren 劳伦; Lenin 列宁; Leo 利奥 里奥; Leonard 伦纳德;
Leonardo 莱昂纳多 李奥纳多; Leslie 莱斯利; Liam 利亚姆; Lily 莉莉; Lincoln 林肯; Linda 琳达; Lisa 丽莎 丽萨 莉萨;
Louis 路易; Louis/Luis/Lewis 路易斯; Louisa/Luisa 路易莎; Louise 露易丝 路易丝; Lucas/Lukas/Luca 卢卡斯 卢卡;
Lucia 露西娅; Lucy/Lucie 露西; Luke 卢克; Lydia 莉迪亚; Lynn 琳恩; Macbeth 麦克白; Madeleine 玛德琳; Maggie 玛吉;
Mahmoud 马哈茂德; Marco Polo 马可波罗 马可·波罗; Margaret 玛格丽特; Maria/Mary/Marie 玛丽亚 玛利亚 玛莉亚;
Marilyn 玛丽莲; Mark/Marc 马克; Martha 玛莎; Martin 马丁; Marx 马克思; Mary/Marie 玛丽 玛莉; Matsumoto 松本;
Matthew 马修; Max 马克斯 麦克斯; Megan 梅根; Melissa 梅丽莎 梅莉莎; Mendelssohn 门德尔松; Messi 梅西; Mia 米娅;
Michael 迈克尔 麦可; Michelle/Michel 米歇尔; Miguel 米格尔; Mike 迈克 麦克; Miller 米勒; Miranda 米兰达;
Mitchell 米切尔; Mohammed/Muhammad/Mohamed 穆罕默德; Molly 莫莉; Monica 莫妮卡; Monroe 梦露; Moore 摩尔;
Morgan 摩根; Moses 摩西; Mozart 莫扎特; Müller/Mueller 穆勒; Nakamura 中村; Nancy 南希 南茜; Napoleon 拿破仑;
Natalia/Natalya 娜塔莉亚 娜塔利娅; Natalie 娜塔莉; Natasha 娜塔莎; Nathan 内森; Ned 内德; Neil 尼尔; Nelson 纳尔逊;
Newton 牛顿; Nguyen 阮氏; Nicholas/Nicolas 尼古拉斯; Nick 尼克; Nicole 妮可; Nina 尼娜 妮娜; Nixon 尼克松;
Noah 诺亚; Nora 诺拉; Norman 诺曼; O'Connor 奥康纳; Obama 奥巴马 欧巴马; Olga 奥尔加; Oliver 奥利弗;
Olivia 奥利维亚; Omar 奥马尔; Oscar 奥斯卡; Pablo 巴勃罗; Pamela 帕梅拉; Parker 帕克;
Patricia 帕特丽夏 派翠西亚 帕特里夏; Patrick 帕特里克 派翠克; Paul 保罗; Paula 葆拉 宝拉; Pauline 波琳;
Pedro 佩德罗; Peggy 佩吉; Peter 彼得; Petrov 彼得罗夫; Phil 菲尔; Philip/Phillip/Philippe 菲利普;
Phillips 菲利普斯; Picasso 毕加索; Pierre 皮埃尔; Plato 柏拉图; Potter 波特; Putin 普京 普丁; Rachel 瑞秋 蕾切尔;
Ralph 拉尔夫; Raymond 雷蒙德 雷蒙; Rebecca 丽贝卡 瑞贝卡; Richard 理查德 理查; Rick 瑞克; Rita 丽塔; Rob 罗布;
Robert 罗伯特; Roberts 罗伯茨; Robin 罗宾; Robinson 罗宾逊; Rodriguez/Rodríguez 罗德里格斯; Roger 罗杰;
Romeo 罗密欧; Ron 罗恩; Ronald 罗纳德; Ronaldo 罗纳尔多; Roosevelt 罗斯福; Rosa 罗莎; Ross/Rose 罗斯; Ruth 露丝;
Ryan 瑞安; Saito/Saitō 斋藤; Sally 莎莉 萨莉; Sam 山姆 萨姆; Samantha 萨曼莎 莎曼珊; Samuel 塞缪尔 撒母耳;
Sandra 桑德拉 珊卓拉; Sara/Sarah 莎拉 萨拉; Sasaki 佐佐木; Sato/Satō 佐藤; Schmidt 施密特; Schneider 施耐德;
Scott 斯科特 史考特; Sergei/Sergey 谢尔盖; Shakespeare 莎士比亚; Sharon 莎伦 雪伦; Sherlock 夏洛克;
Sherry/Shirley 雪莉; Simon 西蒙; Smith 史密斯; Socrates 苏格拉底; Sofia/Sophia 索菲亚 苏菲亚; Sophie 索菲 苏菲;
Stalin 斯大林; Stella 斯特拉; Stephanie 斯蒂芬妮 史蒂芬妮; Stephen/Steven/Stefan 斯蒂芬 史蒂芬; Steve 史蒂夫;
Steven 史蒂文; Stuart 斯图尔特; Sun Yat-sen 孙中山; Susan 苏珊 苏姗; Susanna 苏珊娜; Susie/Suzie 苏西; Suzuki 铃木;
Svetlana 斯维特拉娜; Sylvia 西尔维娅; Takahashi 高桥; Tanaka 田中; Taylor 泰勒; Ted 泰德;
Teresa/Theresa 特蕾莎 特丽莎; Tesla 特斯拉; Thatcher 撒切尔; Thomas 托马斯 汤玛斯; Thompson 汤普森; Tim 蒂姆 提姆;
Timothy 蒂莫西; Tina 蒂娜; Todd 托德; Tolstoy 托尔斯泰; Tom 汤姆; Tommy 汤米; Tony 托尼 东尼; Tracy 特蕾西;
Trump 特朗普 川普; Twain 吐温; Van Gogh 梵高; Vanessa 瓦妮莎 凡妮莎; Veronica 维罗妮卡; Victor/Viktor 维克多;
Victoria 维多利亚; Vincent 文森特 文森; Violet 薇奥莱特; Virginia 弗吉尼亚; Vladimir 弗拉基米尔; Wagner 瓦格纳;
Walker 沃克; Walter 沃尔特 华特; Washington 华盛顿; Watanabe 渡边; Weber 韦伯; Wendy 温蒂 温迪; White 怀特;
Will 威尔; William 威廉 威廉姆; Williams 威廉姆斯 威廉斯; Wilson 威尔逊; Wolfgang 沃尔夫冈; Xi Jinping 习近平;
Yamada 山田; Yamamoto 山本; Yamazaki 山崎; Yoshida 吉田; Yusuf/Youssef 优素福; Zhou Enlai 周恩来; Zoe 佐伊
"""
#: Words that contain such a name and are none, or are written in another way.
NO_NAMES = (
    "诺贝尔 波特率 轻松本 亚当局 巴瑞克 内德国 内德语 比利时 比利牛斯 苏伊士 呼伦贝尔 波特兰 泰坦尼克 丹麦克朗 "
    "万马克 千马克 百马克 辛迪加 不伦瑞克 罗布泊 道琼斯 普莱斯利 悬铃木 歌德巴赫 哥德巴赫 珍妮花 爱德华兹 爱德华多 "
    "布鲁斯南 荒木村 城中村 外高桥 超级玛丽 路易港 维多利亚港 诺亚方舟 俄罗斯 普鲁士 麦克风 马克杯 马克笔 德国马克 "
    "圣彼得 圣约翰 圣保罗 圣路易 圣何塞 圣胡安 圣玛丽 圣安东尼奥 圣乔治 彼得堡 约翰内斯堡 萨拉热窝 贝尔格莱德 "
    "贝尔法斯特 哈利路亚 阿里巴巴 阿里山 乔治亚 乔治城 路易斯安那 夏洛特敦 夏洛克城 格林威治 格林尼治 格林纳达 "
    "格林兰 法兰克福 威尔士 吉尔吉斯 卡尔加里 加里宁 马丁尼 马丁靴 牛顿力学 布朗运动 摩尔多瓦 摩根士丹利 梅西百货 "
    "大卫生 大卫星 大卫视 哈里发 奥斯卡奖 雨果奖 一山本 田中央 田中间 水田中 稻田中 农田中 田中的 胡安置 胡安排 "
    "爱迪生产 高桥梁 中村庄 阿里面 东尼泊尔 汉斯约 小孔子 约翰逊航天"
)
#: The most common surnames, and the syllables that English writes for them.
SURNAMES = (
    "王Wang李Li张Zhang刘Liu陈Chen杨Yang赵Zhao吴Wu徐Xu孙Sun胡Hu朱Zhu郭Guo马Ma罗Luo梁Liang宋Song郑Zheng谢Xie韩Han唐Tang"
    "冯Feng董Dong萧Xiao曹Cao袁Yuan邓Deng傅Fu沈Shen彭Peng吕Lü苏Su卢Lu蒋Jiang蔡Cai贾Jia丁Ding魏Wei薛Xue阎Yan潘Pan杜Du"
    "戴Dai汪Wang范Fan姜Jiang姚Yao谭Tan廖Liao邹Zou熊Xiong陆Lu郝Hao崔Cui邱Qiu秦Qin顾Gu侯Hou邵Shao孟Meng段Duan尹Yin黎Li"
    "乔Qiao贺He赖Lai龚Gong欧阳Ouyang司马Sima上官Shangguan诸葛Zhuge"
)
#: Surnames that are also frequent words.
WORDS_AND_SURNAMES = (
    "黄Huang周Zhou林Lin高Gao何He于Yu程Cheng许Xu曾Zeng叶Ye余Yu夏Xia钟Zhong田Tian任Ren方Fang石Shi金Jin江Jiang白Bai"
    "孔Kong毛Mao史Shi龙Long雷Lei钱Qian汤Tang易Yi常Chang武Wu文Wen"
)
#: Characters that are given names by themselves, and the syllables that English writes for them.
GIVEN_ALONE = (
    "伟wei芳fang娜na敏min静jing丽li强qiang磊lei军jun洋yang勇yong艳yan杰jie娟juan涛tao明ming超chao霞xia刚gang斌bin"
    "辉hui鹏peng鑫xin浩hao轩xuan涵han琳lin婷ting倩qian颖ying洁jie莹ying慧hui燕yan玲ling萍ping晨chen峰feng凯kai琪qi"
    "悦yue蕾lei薇wei丹dan莉li萌meng璐lu瑶yao雯wen菲fei妍yan岚lan彤tong昊hao翔xiang睿rui毅yi旭xu帆fan彬bin婧jing媛yuan"
    "珊shan楠nan锋feng栋dong坤kun婕jie蓉rong芬fen娇jiao梅mei兰lan波bo飞fei雪xue欣xin怡yi宇yu佳jia俊jun博bo宁ning"
    "亮liang健jian平ping红hong英ying晴qing璇xuan俪li炅jiong潇xiao嫣yan泉quan腾teng凡fan雨yu文wen云yun华hua雷lei"
)
#: Other characters of given names of two characters: at their beginning and their end, and at their beginning only.
GIVEN = (
    "秀xiu桂gui玉yu建jian国guo梓zi晓xiao志zhi海hai东dong林lin瑞rui诗shi春chun龙long虎hu康kang成cheng福fu荣rong庆qing"
    "金jin淑shu珍zhen凤feng美mei柔rou泽ze铭ming哲zhe威wei阳yang宏hong松song君jun鸿hong民min生sheng良liang晶jing琴qin"
    "香xiang月yue花hua莲lian素su巧qiao雅ya惠hui冰bing馨xin韵yun蓓bei洪hong兵bing胜sheng贵gui宝bao顺shun光guang友you"
    "富fu安an清qing青qing祥xiang仁ren智zhi耀yao森sen楷kai霖lin晖hui诚cheng谦qian昌chang兴xing雄xiong武wu岩yan奇qi祖zu"
    "茂mao钧jun骏jun梦meng婉wan紫zi然ran航hang皓hao煜yu辰chen钰yu锦jin朋peng汉han敬jing圆yuan咏yong靖jing桐tong麟lin"
    "冠guan亭ting朝chao嘉jia晏yan伦lun"
)
GIVEN_FIRST = (
    "小xiao立li永yong新xin学xue德de爱ai少shao家jia启qi正zheng义yi思si喜xi元yuan世shi天tian子zi依yi若ruo希xi逸yi"
    "承cheng绍shao振zhen市shi之zhi中zhong"
)
#: Words that are no given names.
NO_GIVEN_NAMES = (
    "美国 学生 英国 德国 平民 海军 健康 英雄 天然 森林 刚刚 美军 海洋 国民 依然 红军 英文 生成 福建 兴建 航海 元素 "
    "军民 少林 波兰 民国 正文 义军 新生 明明 清军 新兴 清洁 青春 民兵 天文 花生 天花 金花 明亮 芬兰 英军 天生 民航 "
    "毅然 冰雪 欣然 诚然 美金 德文 国军 小国 小生 小兵 小巧 正月 元月 天国 新兵 新军 友军 强国 贵国 燕国 清静 平静 "
    "珍贵 珍宝 喜悦 喜庆 宏伟 雄伟 月亮 月光 晨光 清晨 国宝 美梦 子民 良民 香花 花香 青海 国庆 若然 森然"
)
#: Words that begin with the last character of such a name: the character and what may follow it.
WORDS_AFTER = (
    "明天年白显星确亮日早晚明 强大烈调壮盗度制迫 超过市级人出速 健康身美全壮 宁可愿静 丹麦佛 勇敢气于士 洋葱溢人 "
    "敏感捷锐 伟大人业 洁净 军队人事官舰 燕子 辉煌 峰会 杰出作 静止静态 旭日 平时常均等静安方原民台 红色的了包酒茶 "
    "飞机快行过去走 雪花白人 兰花州 梅花雨 英语国文雄里镑 亮了着起 刚刚好才强 波士兰浪动 博物士客 宇宙航 "
    "国家外内王人际会语 文学化字明件章 东西方部京 成为了功年长立本就 林子业 朋友 生病气日活产意命 美国丽元好食 "
    "金子钱属融 海边滩里上洋水外军 春天节 云彩南 龙虾 虎口 康复 福利 荣幸 威胁力 阳光台 君主 民族众主 良好 "
    "香港味水蕉烟 月亮底初份 花了钱园费朵 素食 巧克妙 冰箱淇块 胜利 宝贝贵宝石 顺便利 光是线荣明 友好谊 富有 "
    "安全静排慰心 清楚洁晨醒 青年春 智慧力 森林 诚实 兴趣奋 武器术装 岩石 奇怪迹 雨伞天水 玉米 晴天朗 航班空 "
    "梦想见到 瑞典士 晶体 松树 然后而 雅典 华盛丽侨 晨跑会 娜塔 莉娅 志愿 晓得"
)
#: Words that look like a name of a person.
NO_PEOPLE = (
    "对于 由于 关于 至于 等于 在于 属于 位于 终于 出于 处于 黎明 黎波里 金刚 金丹 紫罗兰 沈阳 巴黎 汪洋 江洋 孟菲斯 "
    "小玲珑 老陈醋 武宁 武强 江宁 贺兰 罗红霉素 白洋 余平方 白兰 高明 高超 高强 高峰 高洁 高丽 高飞 高亮 高红 高宁 "
    "文明 文静 白雪 白洁 白梅 石英 杨梅 朱红 武林 黄梅 陆军 苏丹 韩国 钱龙 马德里 马兰花 汪洋大 马铃 周平 雷雨 汤泉 "
    "任华 小红帽 小红书 小明星 小王子 老王八 老张开 大小王 "
    "白云 白莲花 唐朝 宋朝 高中生 拉丁文 范文 黄泉 武汉 字段 "
    "苏军 秦军 韩军 魏军 唐军 曹军 宋军 吴军 赵军 林海雪原 孙子兵法"
)
#: Surnames and given names that follow 小 or 老, and characters that go on with a word.
FAMILIAR_SURNAMES = "王李张刘陈杨赵吴徐孙胡朱郭罗梁宋郑谢韩冯董曹邓彭蔡丁魏姚"
FAMILIAR_NAMES = "明红芳丽强华刚军玲燕"
FAMILIAR_END = "帽书星妃后宫八"
#: Titles after a name, and English ones before it.
TITLES = (
    "先生Mr. 太太Mrs. 夫人Mrs. 女士Ms. 小姐Miss"
    " 教授Professor 博士Dr. 医生Dr. 大夫Dr. 老师Teacher 经理Manager 师傅Master 叔叔Uncle 阿姨Aunt"
)
#: Traditional characters of these tables, in pairs with the simplified ones.
TRADITIONAL = (
    "亞亚侖仑倫伦偉伟傑杰優优凱凯剛刚劉刘勝胜勞劳吳吴呂吕啓启啟启喬乔國国夢梦奧奥姍姗婭娅嬌娇孫孙學学寧宁寶宝峯峰嵐岚"
    "巖岩師师張张強强悅悦愛爱慶庆懷怀暉晖曉晓書书東东棟栋楊杨榮荣樂乐橋桥歐欧湯汤溫温漢汉潔洁澤泽濤涛爾尔瑤瑶瑩莹瑪玛"
    "瓊琼畢毕當当盧卢穌稣穎颖窩窝紀纪約约紅红納纳紹绍絲丝經经維维羅罗義义聖圣興兴艷艳莊庄華华萊莱萬万葉叶蓮莲蔣蒋蕭萧"
    "薩萨藝艺蘇苏蘭兰蘿萝衛卫裏里裡里許许詩诗誠诚諸诸諾诺謙谦謝谢譚谭豔艳貝贝貴贵費费賀贺賈贾賓宾賴赖趙赵軍军軒轩輝辉"
    "運运達达遜逊邁迈邊边鄒邹鄧邓鄭郑醫医鈞钧鈴铃鈺钰銘铭鋒锋錢钱錦锦鍾钟鐘钟門门間间閻阎陳陈陸陆陽阳雲云靜静韋韦韓韩"
    "韻韵順顺頓顿顧顾風风飛飞馬马馮冯駿骏騰腾魯鲁鮑鲍鳳凤鴻鸿鵬鹏鶴鹤麗丽麥麦黃黄齋斋龍龙龔龚"
)
