S My brother go to school by bus every days .
A 2 3|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
A 8 9|||R:NOUN:NUM|||day|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||1
A 8 9|||R:NOUN:NUM|||day|||REQUIRED|||-NONE-|||1

S I am living in Zürich since five years and I like it very much .
A 1 3|||R:VERB:TENSE|||have been living||have lived|||REQUIRED|||-NONE-|||0
A 5 6|||R:PREP|||for|||REQUIRED|||-NONE-|||0
A 1 3|||R:VERB:TENSE|||have lived|||REQUIRED|||-NONE-|||1
A 5 6|||R:PREP|||for|||REQUIRED|||-NONE-|||1
A 8 8|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 1 3|||R:VERB:TENSE|||have been living|||REQUIRED|||-NONE-|||2
A 5 6|||R:PREP|||for|||REQUIRED|||-NONE-|||2
A 12 14|||R:ADV|||a lot|||REQUIRED|||-NONE-|||2

S Yesterday I have seen a interesting film about whales .
A 2 4|||R:VERB:TENSE|||saw|||REQUIRED|||-NONE-|||0
A 4 5|||R:DET|||an|||REQUIRED|||-NONE-|||0
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 2 4|||R:VERB:TENSE|||saw|||REQUIRED|||-NONE-|||1
A 4 5|||R:DET|||an|||REQUIRED|||-NONE-|||1

S She suggested me to take the earlier train .
A 2 2|||M:CONJ|||that|||REQUIRED|||-NONE-|||0
A 2 3|||R:PRON|||I|||REQUIRED|||-NONE-|||0
A 3 5|||R:VERB:FORM|||take|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB|||advised|||REQUIRED|||-NONE-|||1
A 2 3|||R:PRON|||that I|||REQUIRED|||-NONE-|||2
A 3 4|||R:VERB|||should|||REQUIRED|||-NONE-|||2

S Where you bought this beautiful shoes ?
A 1 1|||M:VERB|||did|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:FORM|||buy|||REQUIRED|||-NONE-|||0
A 3 4|||R:DET|||these|||REQUIRED|||-NONE-|||0
A 1 1|||M:VERB|||did|||REQUIRED|||-NONE-|||1
A 2 3|||R:VERB:FORM|||buy|||REQUIRED|||-NONE-|||1
A 3 4|||R:DET|||these|||REQUIRED|||-NONE-|||1
A 1 1|||M:VERB|||did|||REQUIRED|||-NONE-|||2
A 2 3|||R:VERB:FORM|||buy|||REQUIRED|||-NONE-|||2
A 3 4|||R:DET|||these|||REQUIRED|||-NONE-|||2

S The informations on your web site is not correct .
A 1 2|||R:NOUN:INFL|||information|||REQUIRED|||-NONE-|||0
A 4 6|||R:ORTH|||website|||REQUIRED|||-NONE-|||0
A 1 2|||R:NOUN:INFL|||information|||REQUIRED|||-NONE-|||1

S Always I drink coffee in morning before to go at work .
A 0 2|||R:WO|||I always|||REQUIRED|||-NONE-|||0
A 5 5|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 7 9|||R:VERB:FORM|||going|||REQUIRED|||-NONE-|||0
A 9 10|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 0 2|||R:WO|||I always|||REQUIRED|||-NONE-|||1
A 5 5|||M:DET|||the|||REQUIRED|||-NONE-|||1
A 7 9|||R:OTHER|||I go||going|||REQUIRED|||-NONE-|||1
A 9 10|||R:PREP|||to|||REQUIRED|||-NONE-|||1
A 0 2|||R:WO|||I always|||REQUIRED|||-NONE-|||2
A 5 5|||M:DET|||the|||REQUIRED|||-NONE-|||2
A 7 9|||R:VERB:FORM|||going|||REQUIRED|||-NONE-|||2
A 9 10|||R:PREP|||to|||REQUIRED|||-NONE-|||2

S He said : " I ca n't found my keys , can you help me ? "
A 7 8|||R:VERB:FORM|||find|||REQUIRED|||-NONE-|||0
A 10 12|||R:PUNCT|||. Can|||REQUIRED|||-NONE-|||0
A 2 3|||R:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB:FORM|||find|||REQUIRED|||-NONE-|||1
A 10 11|||R:PUNCT|||;|||REQUIRED|||-NONE-|||1

S In my opinion it is a good idea to visit the café near the river .
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2

S I look forward to hear from you .
A 4 5|||R:VERB:FORM|||hearing|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:TENSE|||am looking|||REQUIRED|||-NONE-|||1
A 4 5|||R:VERB:FORM|||hearing|||REQUIRED|||-NONE-|||1

S Is very cold today , so we stay at home .
A 0 1|||M:PRON|||It is|||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB:TENSE|||are staying|||REQUIRED|||-NONE-|||0
A 0 1|||M:PRON|||It is|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB:TENSE|||will stay|||REQUIRED|||-NONE-|||1
A 0 0|||M:PRON|||It|||REQUIRED|||-NONE-|||2
A 0 1|||R:ORTH|||is|||REQUIRED|||-NONE-|||2
A 7 8|||R:VERB:TENSE|||are staying||'re staying||will stay|||REQUIRED|||-NONE-|||2

S According to Johnson & Sons , the prices will increase of 5 % next year .
A 6 7|||U:DET||||||REQUIRED|||-NONE-|||0
A 9 11|||R:PREP|||increase by|||REQUIRED|||-NONE-|||0
A 10 11|||R:PREP|||by|||REQUIRED|||-NONE-|||1

S The tag <b> make the text more bold .
A 3 4|||R:VERB:SVA|||makes|||REQUIRED|||-NONE-|||0
A 6 7|||U:ADV||||||REQUIRED|||-NONE-|||0
A 1 3|||R:WO|||<b> tag|||REQUIRED|||-NONE-|||1
A 3 4|||R:VERB:SVA|||makes|||REQUIRED|||-NONE-|||1
A 6 8|||R:ADJ:FORM|||bold||bolder|||REQUIRED|||-NONE-|||1

S We was waiting since two hours when the bus finally come .
A 1 2|||R:VERB:TENSE|||had been|||REQUIRED|||-NONE-|||0
A 3 4|||R:PREP|||for|||REQUIRED|||-NONE-|||0
A 10 11|||R:VERB:TENSE|||came|||REQUIRED|||-NONE-|||0
A 1 3|||R:VERB:TENSE|||had waited||had been waiting|||REQUIRED|||-NONE-|||1
A 3 4|||R:PREP|||for|||REQUIRED|||-NONE-|||1
A 10 11|||R:VERB:TENSE|||came|||REQUIRED|||-NONE-|||1

S My grandmother cooks the best soup in the whole village .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S It depends of the weather if we will go to the beach or not .
A 2 3|||R:PREP|||on|||REQUIRED|||-NONE-|||0
A 5 6|||R:CONJ|||whether|||REQUIRED|||-NONE-|||0
A 7 8|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 2 3|||R:PREP|||on|||REQUIRED|||-NONE-|||1
A 5 6|||R:CONJ|||whether|||REQUIRED|||-NONE-|||1
A 12 14|||U:OTHER||||||REQUIRED|||-NONE-|||1
A 0 6|||R:OTHER|||Whether|||REQUIRED|||-NONE-|||2
A 7 8|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||2
A 14 14|||M:OTHER|||depends on the weather|||REQUIRED|||-NONE-|||2

S Despite of the rain , they was playing football all the afternoon .
A 1 2|||U:PREP||||||REQUIRED|||-NONE-|||0
A 6 8|||R:VERB:TENSE|||played|||REQUIRED|||-NONE-|||0
A 10 11|||U:DET||||||REQUIRED|||-NONE-|||0
A 0 1|||R:PREP|||In spite|||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB:SVA|||were|||REQUIRED|||-NONE-|||1
A 10 11|||U:DET||||||REQUIRED|||-NONE-|||1
A 1 2|||U:PREP||||||REQUIRED|||-NONE-|||2
A 6 7|||R:VERB:SVA|||were|||REQUIRED|||-NONE-|||2
A 10 11|||U:DET||||||REQUIRED|||-NONE-|||2

S I do n't know what is she doing now .
A 5 7|||R:WO|||she is|||REQUIRED|||-NONE-|||0
A 5 7|||R:WO|||she is|||REQUIRED|||-NONE-|||1
A 8 8|||M:ADV|||right|||REQUIRED|||-NONE-|||1
A 5 6|||U:VERB||||||REQUIRED|||-NONE-|||2
A 7 7|||M:VERB|||is|||REQUIRED|||-NONE-|||2

S The peoples in this town are very friendly and helpfull .
A 1 2|||R:NOUN:INFL|||people|||REQUIRED|||-NONE-|||0
A 9 10|||R:SPELL|||helpful|||REQUIRED|||-NONE-|||0
A 1 2|||R:NOUN:INFL|||people|||REQUIRED|||-NONE-|||1
A 9 10|||R:SPELL|||helpful|||REQUIRED|||-NONE-|||1
A 1 2|||R:NOUN:INFL|||people|||REQUIRED|||-NONE-|||2
A 9 10|||R:SPELL|||helpful|||REQUIRED|||-NONE-|||2

S If I would have more time , I would learn to play piano .
A 2 4|||R:VERB:TENSE|||had|||REQUIRED|||-NONE-|||0
A 12 12|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 2 4|||R:VERB:TENSE|||had|||REQUIRED|||-NONE-|||1

S The car of my father is broken since last monday .
A 0 5|||R:NOUN:POSS|||My father 's car|||REQUIRED|||-NONE-|||0
A 5 6|||R:VERB:TENSE|||has been|||REQUIRED|||-NONE-|||0
A 9 10|||R:ORTH|||Monday|||REQUIRED|||-NONE-|||0
A 0 5|||R:NOUN:POSS|||My father 's car|||REQUIRED|||-NONE-|||1
A 5 7|||R:VERB|||broke down|||REQUIRED|||-NONE-|||1
A 7 8|||U:PREP||||||REQUIRED|||-NONE-|||1
A 9 10|||R:ORTH|||Monday|||REQUIRED|||-NONE-|||1

S Thank you for give me this opportunity , I will do my best .
A 3 4|||R:VERB:FORM|||giving|||REQUIRED|||-NONE-|||0
A 7 8|||R:PUNCT|||;||.|||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:FORM|||giving|||REQUIRED|||-NONE-|||1
A 7 9|||R:PUNCT|||. I|||REQUIRED|||-NONE-|||1

S What means this word in English ?
A 1 4|||R:WO|||does this word mean|||REQUIRED|||-NONE-|||0
A 1 1|||M:VERB|||does|||REQUIRED|||-NONE-|||1
A 1 2|||U:VERB||||||REQUIRED|||-NONE-|||1
A 4 4|||M:VERB|||mean|||REQUIRED|||-NONE-|||1

S Last summer we made a travel to Spain and we visited many musems there .
A 3 4|||R:VERB|||took|||REQUIRED|||-NONE-|||0
A 5 6|||R:NOUN|||trip|||REQUIRED|||-NONE-|||0
A 9 10|||U:PRON||||||REQUIRED|||-NONE-|||0
A 12 13|||R:SPELL|||museums|||REQUIRED|||-NONE-|||0
A 3 6|||R:OTHER|||travelled|||REQUIRED|||-NONE-|||1
A 9 10|||U:PRON||||||REQUIRED|||-NONE-|||1
A 12 13|||R:SPELL|||museums|||REQUIRED|||-NONE-|||1
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||2
A 3 6|||R:OTHER|||went on a trip||took a trip|||REQUIRED|||-NONE-|||2
A 12 13|||R:SPELL|||museums|||REQUIRED|||-NONE-|||2

S Nobody of my friends speak Portuguese , but all understand a little .
A 0 1|||R:PRON|||None|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:SVA|||speaks|||REQUIRED|||-NONE-|||0
A 8 8|||M:PRON|||they|||REQUIRED|||-NONE-|||0
A 0 1|||R:PRON|||None|||REQUIRED|||-NONE-|||1
A 8 8|||M:PRON|||they|||REQUIRED|||-NONE-|||1

S The teacher explained us the exercise again because we did n't understood it .
A 3 4|||U:PRON||||||REQUIRED|||-NONE-|||0
A 6 6|||M:OTHER|||to us|||REQUIRED|||-NONE-|||0
A 11 12|||R:VERB:FORM|||understand|||REQUIRED|||-NONE-|||0
A 3 6|||R:WO|||the exercise to us|||REQUIRED|||-NONE-|||1
A 9 12|||R:VERB:TENSE|||had n't understood|||REQUIRED|||-NONE-|||1

S In the nowadays , almost everybody have a mobile phone .
A 0 3|||R:OTHER|||Nowadays|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 0 3|||R:OTHER|||Nowadays||These days|||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||1
A 0 1|||U:PREP||||||REQUIRED|||-NONE-|||2
A 1 2|||U:DET||||||REQUIRED|||-NONE-|||2
A 2 3|||R:ORTH|||Nowadays|||REQUIRED|||-NONE-|||2
A 5 6|||R:PRON|||everyone|||REQUIRED|||-NONE-|||2
A 6 7|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||2

S Could you tell me how much costs the ticket ?
A 6 9|||R:WO|||the ticket costs|||REQUIRED|||-NONE-|||0
A 6 7|||U:VERB||||||REQUIRED|||-NONE-|||1
A 9 9|||M:VERB|||costs|||REQUIRED|||-NONE-|||1

S I have a lot of homeworks to do this weekend , so I ca n't come to the party .
A 5 6|||R:NOUN:INFL|||homework|||REQUIRED|||-NONE-|||0
A 5 6|||R:NOUN:INFL|||homework|||REQUIRED|||-NONE-|||1

S The meeting was canceled becouse of the director was ill .
A 4 6|||R:OTHER|||because|||REQUIRED|||-NONE-|||0
A 3 4|||R:SPELL|||cancelled|||REQUIRED|||-NONE-|||1
A 4 5|||R:SPELL|||because|||REQUIRED|||-NONE-|||1
A 5 6|||U:PREP||||||REQUIRED|||-NONE-|||1

S She is more taller than her sister .
A 2 3|||U:ADV||||||REQUIRED|||-NONE-|||0
A 2 4|||R:ADJ:FORM|||taller|||REQUIRED|||-NONE-|||1
A 2 3|||R:ADV|||much|||REQUIRED|||-NONE-|||2

S I am agree with you that smoking should be forbidden in public places .
A 1 2|||U:VERB||||||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB|||banned|||REQUIRED|||-NONE-|||0
A 1 3|||R:VERB:FORM|||agree|||REQUIRED|||-NONE-|||1

S After I finish the university , I want to work like an engineer .
A 3 4|||U:DET||||||REQUIRED|||-NONE-|||0
A 10 11|||R:PREP|||as|||REQUIRED|||-NONE-|||0
A 2 5|||R:OTHER|||graduate|||REQUIRED|||-NONE-|||1
A 10 11|||R:PREP|||as|||REQUIRED|||-NONE-|||1

S There is many reasons why the tourists comes here : the food , the sea , and the naïve paintings .
A 1 2|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||0
A 5 6|||U:DET||||||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB:SVA|||come|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB:SVA|||come|||REQUIRED|||-NONE-|||1
A 15 16|||U:PUNCT||||||REQUIRED|||-NONE-|||1

S Please , send me the document until Friday .
A 1 2|||U:PUNCT||||||REQUIRED|||-NONE-|||0
A 6 7|||R:PREP|||by|||REQUIRED|||-NONE-|||0
A 1 2|||U:PUNCT||||||REQUIRED|||-NONE-|||1
A 6 7|||R:PREP|||by|||REQUIRED|||-NONE-|||1

S He has married with a doctor from Kraków three years ago .
A 1 2|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 3 4|||U:PREP||||||REQUIRED|||-NONE-|||0
A 1 4|||R:OTHER|||married||got married to|||REQUIRED|||-NONE-|||1
A 0 11|||R:WO|||Three years ago , he married a doctor from Kraków|||REQUIRED|||-NONE-|||2

S The film was so bored that I fell asleep .
A 4 5|||R:ADJ|||boring|||REQUIRED|||-NONE-|||0
A 4 5|||R:ADJ|||boring|||REQUIRED|||-NONE-|||1

S Would you like that I bring something to drink ?
A 3 5|||R:OTHER|||me to|||REQUIRED|||-NONE-|||0
A 3 5|||R:OTHER|||me to|||REQUIRED|||-NONE-|||1
A 0 5|||R:OTHER|||Shall I||Should I|||REQUIRED|||-NONE-|||2

S I think so too .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2

S We discussed about the problem during two hours without to find a solution .
A 2 3|||U:PREP||||||REQUIRED|||-NONE-|||0
A 5 6|||R:PREP|||for|||REQUIRED|||-NONE-|||0
A 9 11|||R:VERB:FORM|||finding|||REQUIRED|||-NONE-|||0
A 1 3|||R:OTHER|||talked about||discussed|||REQUIRED|||-NONE-|||1
A 5 6|||R:PREP|||for|||REQUIRED|||-NONE-|||1
A 9 11|||R:VERB:FORM|||finding|||REQUIRED|||-NONE-|||1

S The room cost 45 € per night and is near of the train station .
A 2 3|||R:VERB:SVA|||costs|||REQUIRED|||-NONE-|||0
A 10 11|||U:PREP||||||REQUIRED|||-NONE-|||0
A 2 5|||R:OTHER|||costs € 45|||REQUIRED|||-NONE-|||1
A 9 11|||R:OTHER|||close to||near|||REQUIRED|||-NONE-|||1

S Me and my friend goes swimming on Saturdays , it 's our favourite sport .
A 0 5|||R:OTHER|||My friend and I go|||REQUIRED|||-NONE-|||0
A 8 9|||R:PUNCT|||;|||REQUIRED|||-NONE-|||0
A 0 4|||R:WO|||My friend and I|||REQUIRED|||-NONE-|||1
A 4 5|||R:VERB:SVA|||go|||REQUIRED|||-NONE-|||1
A 8 10|||R:PUNCT|||. It|||REQUIRED|||-NONE-|||1

S I did a big mistake when I forgot to save the file .
A 1 2|||R:VERB|||made|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB|||made|||REQUIRED|||-NONE-|||1

S Every morning the birds sing outside my window .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||2

S How long time does it takes to get from the airport to the center ?
A 2 3|||U:NOUN||||||REQUIRED|||-NONE-|||0
A 5 6|||R:VERB:FORM|||take|||REQUIRED|||-NONE-|||0
A 2 3|||U:NOUN||||||REQUIRED|||-NONE-|||1
A 5 6|||R:VERB:FORM|||take|||REQUIRED|||-NONE-|||1
A 13 14|||R:SPELL|||centre|||REQUIRED|||-NONE-|||1
A 0 3|||R:OTHER|||How much time||How long|||REQUIRED|||-NONE-|||2
A 5 6|||R:VERB:FORM|||take|||REQUIRED|||-NONE-|||2
A 13 14|||R:NOUN|||city centre||centre|||REQUIRED|||-NONE-|||2

S Although he was tired , but he continued to work .
A 5 6|||U:CONJ||||||REQUIRED|||-NONE-|||0
A 0 2|||U:CONJ|||He|||REQUIRED|||-NONE-|||1
A 5 6|||U:CONJ||||||REQUIRED|||-NONE-|||2
A 7 10|||R:VERB|||kept working||went on working|||REQUIRED|||-NONE-|||2

S The government must to take measures for to reduce the pollution in the citys .
A 3 4|||U:PART||||||REQUIRED|||-NONE-|||0
A 6 7|||U:PREP||||||REQUIRED|||-NONE-|||0
A 9 10|||U:DET||||||REQUIRED|||-NONE-|||0
A 12 13|||U:DET||||||REQUIRED|||-NONE-|||0
A 13 14|||R:NOUN:INFL|||cities|||REQUIRED|||-NONE-|||0
A 3 4|||U:PART||||||REQUIRED|||-NONE-|||1
A 6 8|||R:PREP|||to|||REQUIRED|||-NONE-|||1
A 12 14|||R:NOUN:INFL|||our cities|||REQUIRED|||-NONE-|||1

S My hobbys are read books , listen music and to cook .
A 1 2|||R:NOUN:INFL|||hobbies|||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:FORM|||reading|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:FORM|||listening to|||REQUIRED|||-NONE-|||0
A 9 11|||R:VERB:FORM|||cooking|||REQUIRED|||-NONE-|||0
A 1 2|||R:NOUN:INFL|||hobbies|||REQUIRED|||-NONE-|||1
A 3 4|||R:VERB:FORM|||reading|||REQUIRED|||-NONE-|||1
A 4 5|||U:NOUN||||||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB:FORM|||listening|||REQUIRED|||-NONE-|||1
A 7 7|||M:PREP|||to|||REQUIRED|||-NONE-|||1
A 9 11|||R:VERB:FORM|||cooking|||REQUIRED|||-NONE-|||1

S You should to try the fish , it 's really delicious !
A 2 3|||U:PART||||||REQUIRED|||-NONE-|||0
A 6 7|||R:PUNCT|||;|||REQUIRED|||-NONE-|||0
A 2 4|||R:VERB:FORM|||try|||REQUIRED|||-NONE-|||1
A 6 8|||R:PUNCT|||. It|||REQUIRED|||-NONE-|||1

S When I will arrive to the hotel , I will call you .
A 2 3|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 4 5|||R:PREP|||at|||REQUIRED|||-NONE-|||0
A 2 3|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||1
A 4 5|||R:PREP|||at|||REQUIRED|||-NONE-|||1

S Have you ever been in the “ Museum of Modern Art ” ?
A 4 5|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 4 5|||R:PREP|||to|||REQUIRED|||-NONE-|||1
A 6 7|||U:PUNCT||||||REQUIRED|||-NONE-|||1
A 11 12|||U:PUNCT||||||REQUIRED|||-NONE-|||1

S It was the first time I eat sushi , and I did n't liked it .
A 6 7|||R:VERB:TENSE|||had eaten|||REQUIRED|||-NONE-|||0
A 13 14|||R:VERB:FORM|||like|||REQUIRED|||-NONE-|||0
A 5 5|||M:CONJ|||that|||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB:TENSE|||ate||had eaten|||REQUIRED|||-NONE-|||1
A 13 14|||R:VERB:FORM|||like|||REQUIRED|||-NONE-|||1

S A friend of mine who lives in Paris he gave me this book .
A 8 9|||U:PRON||||||REQUIRED|||-NONE-|||0
A 8 9|||U:PRON||||||REQUIRED|||-NONE-|||1

S I prefer to walk than taking the metro , even if it rain .
A 2 4|||R:VERB:FORM|||walking|||REQUIRED|||-NONE-|||0
A 4 5|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 12 13|||R:VERB:SVA|||rains|||REQUIRED|||-NONE-|||0
A 1 3|||R:VERB|||would rather|||REQUIRED|||-NONE-|||1
A 5 6|||R:VERB:FORM|||take|||REQUIRED|||-NONE-|||1
A 12 13|||R:VERB:SVA|||rains||is raining|||REQUIRED|||-NONE-|||1

S Every students has to hand in their essay before the end of week .
A 1 2|||R:NOUN:NUM|||student|||REQUIRED|||-NONE-|||0
A 12 12|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 0 3|||R:OTHER|||All students have|||REQUIRED|||-NONE-|||1
A 7 8|||R:NOUN:NUM|||essays|||REQUIRED|||-NONE-|||1
A 8 9|||R:PREP|||by|||REQUIRED|||-NONE-|||1
A 12 12|||M:DET|||the|||REQUIRED|||-NONE-|||1
A 1 2|||R:NOUN:NUM|||student|||REQUIRED|||-NONE-|||2
A 8 9|||R:PREP|||by|||REQUIRED|||-NONE-|||2
A 12 12|||M:DET|||the|||REQUIRED|||-NONE-|||2

S She has long black hairs and a green eyes .
A 4 5|||R:NOUN:NUM|||hair|||REQUIRED|||-NONE-|||0
A 6 7|||U:DET||||||REQUIRED|||-NONE-|||0
A 4 5|||R:NOUN:NUM|||hair|||REQUIRED|||-NONE-|||1
A 6 7|||U:DET||||||REQUIRED|||-NONE-|||1

S The weather in Málaga was wonderful , so we spent most of the time outdoors .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S I 'm very exciting about the concert of tonight .
A 3 4|||R:ADJ|||excited|||REQUIRED|||-NONE-|||0
A 5 9|||R:NOUN:POSS|||tonight 's concert|||REQUIRED|||-NONE-|||0
A 3 4|||R:ADJ|||excited|||REQUIRED|||-NONE-|||1
A 7 8|||U:PREP||||||REQUIRED|||-NONE-|||1

S Do you can recommend me a good doctor ?
A 0 1|||U:VERB||||||REQUIRED|||-NONE-|||0
A 1 3|||R:WO|||Can you|||REQUIRED|||-NONE-|||0
A 4 5|||U:PRON||||||REQUIRED|||-NONE-|||0
A 0 3|||R:OTHER|||Can you|||REQUIRED|||-NONE-|||1
A 4 5|||U:PRON||||||REQUIRED|||-NONE-|||1
A 8 8|||M:OTHER|||to me|||REQUIRED|||-NONE-|||1
A 0 3|||R:OTHER|||Could you||Can you|||REQUIRED|||-NONE-|||2
A 4 5|||U:PRON||||||REQUIRED|||-NONE-|||2

S In the past , people used horses for travelling , they had n't cars .
A 7 9|||R:VERB:FORM|||to travel|||REQUIRED|||-NONE-|||0
A 9 10|||R:PUNCT|||;|||REQUIRED|||-NONE-|||0
A 11 13|||R:VERB|||did n't have|||REQUIRED|||-NONE-|||0
A 9 13|||R:OTHER|||because they did n't have||because they had no|||REQUIRED|||-NONE-|||1

S Sincerely yours , Müller & Co .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A 0 2|||R:WO|||Yours sincerely|||REQUIRED|||-NONE-|||1

S The number of people who is using electric bikes are growing every years , what is good for the environment and also for the health of the people which are using them .
A 5 7|||R:OTHER|||use|||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 12 13|||R:NOUN:NUM|||year|||REQUIRED|||-NONE-|||0
A 14 15|||R:PRON|||which|||REQUIRED|||-NONE-|||0
A 28 29|||R:PRON|||who|||REQUIRED|||-NONE-|||0
A 29 31|||R:VERB:TENSE|||use|||REQUIRED|||-NONE-|||0
A 4 6|||U:OTHER||||||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||1
A 12 13|||R:NOUN:NUM|||year|||REQUIRED|||-NONE-|||1
A 14 15|||R:PRON|||which|||REQUIRED|||-NONE-|||1
A 28 29|||R:PRON|||who|||REQUIRED|||-NONE-|||1
A 5 6|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||2
A 9 10|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||2
A 12 13|||R:NOUN:NUM|||year|||REQUIRED|||-NONE-|||2
A 14 15|||R:PRON|||which|||REQUIRED|||-NONE-|||2
A 17 17|||M:CONJ|||both|||REQUIRED|||-NONE-|||2
A 21 22|||U:ADV||||||REQUIRED|||-NONE-|||2
A 28 29|||R:PRON|||who||that|||REQUIRED|||-NONE-|||2

S Actually I work in a bank , but I search a new job since two months .
A 0 1|||R:ADV|||At the moment|||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB:TENSE|||have been looking for|||REQUIRED|||-NONE-|||0
A 13 14|||R:PREP|||for|||REQUIRED|||-NONE-|||0
A 0 1|||R:ADV|||Currently ,||At the moment ,|||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB:TENSE|||have been searching for|||REQUIRED|||-NONE-|||1
A 13 14|||R:PREP|||for|||REQUIRED|||-NONE-|||1
A 0 1|||U:ADV||||||REQUIRED|||-NONE-|||2
A 2 2|||M:ADV|||currently|||REQUIRED|||-NONE-|||2
A 9 10|||R:VERB:TENSE|||have been looking for|||REQUIRED|||-NONE-|||2
A 13 14|||R:PREP|||for|||REQUIRED|||-NONE-|||2

S The most of the children likes to play outside with they friends .
A 0 4|||R:OTHER|||Most|||REQUIRED|||-NONE-|||0
A 5 6|||R:VERB:SVA|||like|||REQUIRED|||-NONE-|||0
A 10 11|||R:PRON|||their|||REQUIRED|||-NONE-|||0
A 0 2|||U:DET|||Most|||REQUIRED|||-NONE-|||1
A 5 6|||R:VERB:SVA|||like|||REQUIRED|||-NONE-|||1
A 10 11|||R:PRON|||their|||REQUIRED|||-NONE-|||1
A 0 1|||U:DET||||||REQUIRED|||-NONE-|||2
A 1 2|||R:ORTH|||Most|||REQUIRED|||-NONE-|||2
A 2 3|||U:PREP||||||REQUIRED|||-NONE-|||2
A 3 4|||U:DET||||||REQUIRED|||-NONE-|||2
A 5 8|||R:VERB:FORM|||like playing|||REQUIRED|||-NONE-|||2
A 10 11|||R:PRON|||their|||REQUIRED|||-NONE-|||2

S I have 20 years old and I come from the Brasil .
A 1 2|||R:VERB|||am|||REQUIRED|||-NONE-|||0
A 9 11|||R:SPELL|||Brazil|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB|||am|||REQUIRED|||-NONE-|||1
A 6 7|||U:PRON||||||REQUIRED|||-NONE-|||1
A 9 10|||U:DET||||||REQUIRED|||-NONE-|||1
A 10 11|||R:SPELL|||Brazil|||REQUIRED|||-NONE-|||1

S Not only she sings , but also plays the violin .
A 2 4|||R:WO|||does she sing|||REQUIRED|||-NONE-|||0
A 6 6|||M:PRON|||she|||REQUIRED|||-NONE-|||0
A 0 3|||R:WO|||She not only|||REQUIRED|||-NONE-|||2
A 4 5|||U:PUNCT||||||REQUIRED|||-NONE-|||2

S Which is your favorite season and why ?
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A 0 1|||R:PRON|||What|||REQUIRED|||-NONE-|||2
A 5 5|||M:PUNCT|||,|||REQUIRED|||-NONE-|||2

S Too much people waste the food that could be ate by others .
A 1 2|||R:ADJ|||many|||REQUIRED|||-NONE-|||1
A 4 5|||U:DET||||||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB:FORM|||eaten|||REQUIRED|||-NONE-|||1
A 1 2|||R:ADJ|||many|||REQUIRED|||-NONE-|||2
A 4 5|||U:DET||||||REQUIRED|||-NONE-|||2
A 7 12|||R:OTHER|||others could eat|||REQUIRED|||-NONE-|||2

S After three hour of walk , we arrived finally in Chamonix and ordered two crêpes with chocolate .
A 2 5|||R:OTHER|||hours of walking||hours ' walk|||REQUIRED|||-NONE-|||1
A 7 9|||R:WO|||finally arrived|||REQUIRED|||-NONE-|||1
A 1 5|||R:OTHER|||a three-hour walk|||REQUIRED|||-NONE-|||2
A 7 9|||R:WO|||finally arrived|||REQUIRED|||-NONE-|||2
A 14 17|||R:WO|||chocolate crêpes|||REQUIRED|||-NONE-|||2

S Netherlands are a very flat country , so is easy to go everywhere by bike .
A 0 0|||M:DET|||The|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 8 8|||M:PRON|||it|||REQUIRED|||-NONE-|||0
A 0 0|||M:DET|||The|||REQUIRED|||-NONE-|||1
A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||1
A 8 8|||M:PRON|||it|||REQUIRED|||-NONE-|||1
A 11 12|||R:VERB|||get|||REQUIRED|||-NONE-|||1
A 12 13|||R:ADV|||anywhere||around|||REQUIRED|||-NONE-|||1

S Most important thing for me is to stay healthy .
A 0 0|||M:DET|||The|||REQUIRED|||-NONE-|||0
A 0 1|||R:ORTH|||most|||REQUIRED|||-NONE-|||0
A 0 1|||M:DET|||The most|||REQUIRED|||-NONE-|||1
A 0 1|||M:DET|||The most|||REQUIRED|||-NONE-|||2
A 6 8|||R:VERB:FORM|||staying|||REQUIRED|||-NONE-|||2

S Without doubt internet has changed the way how we communicate .
A 1 1|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 2 3|||M:DET|||the Internet||the internet|||REQUIRED|||-NONE-|||0
A 7 8|||U:ADV||||||REQUIRED|||-NONE-|||0
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 2 2|||M:DET|||the|||REQUIRED|||-NONE-|||1
A 5 7|||U:OTHER||||||REQUIRED|||-NONE-|||1

